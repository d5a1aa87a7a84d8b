import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import type { ApiAnswer } from '../support/api-client.ts';
import { startKeyAdministration } from '../support/key-administration.ts';

const rounds = process.env.POSTERN_TEST_LONG === undefined ? 5 : 100;
const idsOf = ({ json }: ApiAnswer): string[] => json.items.map(({ id }: { id: string }) => id);

t.test('64 creations and deletions at a time stay exact, with lists in between', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  /** As acknowledged. */
  const there = new Set<string>();
  const gone = new Set<string>();
  const create = async (): Promise<void> => {
    there.add((await mint()).id);
  };
  const remove = async (id: string) => {
    // From here on a list may have it or not.
    there.delete(id);
    const { status } = await call('DELETE', id);
    if (status !== 204) throw new Error(`deleting was answered ${status}`);
    gone.add(id);
  };
  const list = async () => {
    const [thereBefore, goneBefore] = [new Set(there), new Set(gone)];
    const answer = await call('GET', '?size=100');
    const ids = new Set(idsOf(answer));
    const missed = [...thereBefore].filter((id) => there.has(id) && !ids.has(id));
    const undead = [...goneBefore].filter((id) => ids.has(id));
    if (answer.json.total !== answer.json.items.length || missed.length > 0 || undead.length > 0)
      t.fail('a list is not exact', { total: answer.json.total, ids, missed, undead });
  };

  for (let round = 0; round < rounds; round += 1) {
    const doomed = [...there].slice(0, 32);
    const changes = Array.from({ length: 64 - doomed.length }, create);
    changes.push(...doomed.map(remove));
    await Promise.all([...changes, ...Array.from({ length: 16 }, list)]);
    const answer = await call('GET', '?size=100');
    t.equal(answer.json.total, there.size);
    t.strictSame(new Set(idsOf(answer)), there);
    while (there.size > 36) await remove([...there][0]!);
  }
});

t.test('of 64 who delete the same key one does', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  const { id } = await mint();
  const answers = await Promise.all(Array.from({ length: 64 }, () => call('DELETE', id)));
  const counted = [204, 404].map((status) => answers.filter((answer) => answer.status === status).length);
  t.strictSame(counted, [1, 63]);
});

t.test('a key deleted with its children leaves none, not even one minted at that moment', async (t) => {
  const { ask, call, mint, folder } = await startKeyAdministration(t);
  const other = new Database(join(folder, 'records.db'));
  t.teardown(() => other.close());
  for (let round = 0; round < rounds; round += 1) {
    const { id, key } = await mint({ scopes: ['apikeys:write'] });
    const mintSome = () =>
      Array.from({ length: 16 }, () => ask({ label: 'child', scopes: ['apikeys:write'] }, { apiKey: key }));
    const statusesOf = async (answers: Promise<ApiAnswer>[]) =>
      new Set((await Promise.all(answers)).map(({ status }) => status));
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
