import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { type CallKeys, judgeExactKeys, judgeOneDeletion } from '../support/administration/exact-keys.ts';
import { keysPath, startKeyAdministration } from '../support/administration/key-administration.ts';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const rounds = isLong ? 100 : 5;

const scopes = ['store:read'];

/** The keys of a new gateway. */
async function startKeyCalls(t: Test): Promise<CallKeys> {
  const { api, asAdministrator } = await startKeyAdministration(t);
  return (method, path, json) => api.send({ method, path: keysPath + path, json, ...asAdministrator });
}

t.test('64 creations and deletions at a time stay exact, with lists in between', async (t) => {
  await judgeExactKeys(t, await startKeyCalls(t), scopes, rounds);
});

t.test('a single one of 64 parallel deletions of the same key succeeds', async (t) => {
  await judgeOneDeletion(t, await startKeyCalls(t), scopes);
});

t.test('a key deleted with its children leaves none, not even one minted at that moment', async (t) => {
  const { ask, call, mint, folder } = await startKeyAdministration(t);
  const other = new Database(join(folder, 'records.db'));
  t.teardown(() => other.close());
  for (let round = 0; round < rounds; round += 1) {
    const { id, key } = await mint({ scopes: ['apikeys:write'] });
    const mintSome = () =>
      Array.from({ length: 16 }, () => ask({ label: 'child', scopes: ['apikeys:write'] }, { apiKey: key }));
    const statusesOf = async (responses: Promise<ApiResponse>[]) =>
      new Set((await Promise.all(responses)).map(({ status }) => status));
    t.strictSame(await statusesOf(mintSome()), new Set([201]));
    // While writes have to wait, more is minted with a key that is still good; its deletion is first in the queue.
    other.exec('BEGIN IMMEDIATE');
    const deleted = call('DELETE', `${id}?children=true`);
    await sleep(20);
    const meanwhile = mintSome();
    await sleep(50);
    other.exec('COMMIT');
    t.equal((await deleted).status, 204);
    t.strictSame(await statusesOf(mintSome()), new Set([401]));
    t.strictSame(await statusesOf(meanwhile), new Set([401]));
    t.equal((await call('GET')).json.total, 0);
  }
});
