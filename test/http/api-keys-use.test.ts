import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;

/** What would differ if anything had been written. */
function traceOf(folder: string): object[] {
  return ['records.db', 'records.db-wal', 'sessions.db', 'sessions.db-wal'].map((name) => {
    const file = join(folder, name);
    const { size, mtimeNs } = statSync(file, { bigint: true });
    return { name, size, mtimeNs, digest: hash('sha256', readFileSync(file)) };
  });
}

t.test('verifying a thousand times writes nothing', async (t) => {
  const { port, folder, mint, upstream } = await startKeyAdministration(t);
  const { key } = await mint();
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const use = async () => {
    const sent = request({ port, agent, path: '/api/store/x', headers: { 'x-api-key': key } }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };
  t.equal(await use(), 200);
  const before = traceOf(folder);
  const statuses = await Promise.all(Array.from({ length: 1_000 }, use));
  t.strictSame(traceOf(folder), before);
  t.strictSame(new Set(statuses), new Set([200]));
  t.equal(upstream.seen.length, 1_001);
  agent.destroy();
});

t.test('the last use is stored, and survives a restart', async (t) => {
  const first = await startKeyAdministration(t);
  const used = await first.mint({ label: 'used', scopes: ['apikeys:read', 'store:read'] });
  const refused = await first.mint({ label: 'without the scope', scopes: ['audit:read'] });
  const unused = await first.mint({ label: 'unused' });
  t.equal(await first.statusOfUse(used.key), 200);
  first.advance(86_400_000);
  const beforeMs = Date.now() + 86_400_000;
  t.equal(await first.statusOfUse(used.key), 200);
  t.equal((await first.call('GET', '', { apiKey: used.key })).status, 200, 'on own endpoints too');
  t.equal(await first.statusOfUse(refused.key), 403);
  const afterMs = Date.now() + 86_400_000;
  await first.stop();

  const second = await startKeyAdministration(t, { folder: first.folder });
  const lastUseOf = async ({ id }: { id: string }) => (await second.call('GET', id)).json.last_used;
  for (const key of [used, refused]) {
    const lastUsedMs = Date.parse(await lastUseOf(key));
    t.ok(lastUsedMs >= beforeMs && lastUsedMs <= afterMs, `${key.label}: the latest, to about a minute`);
  }
  t.equal(await lastUseOf(unused), null);
  const { json } = await second.call('GET', '?last_used__isnull=true');
  t.strictSame(
    json.items.map(({ id }: { id: string }) => id),
    [unused.id],
  );

  t.equal(await second.statusOfUse(used.key), 200, 'by a clock that is a day behind');
  await second.stop();
  const third = await startKeyAdministration(t, { folder: first.folder });
  const kept = (await third.call('GET', used.id)).json.last_used;
  t.ok(Date.parse(kept) >= beforeMs, 'last_used never goes backwards');
});

t.test('the last use shows within about a minute', { skip: !isLong }, async (t) => {
  const { mint, call, statusOfUse } = await startKeyAdministration(t);
  const { id, key } = await mint();
  t.equal(await statusOfUse(key), 200);
  const usedMs = Date.now();
  let lastUsed: string | null = null;
  for (let waited = 0; waited < 65 && lastUsed === null; waited += 1) {
    await sleep(1_000);
    lastUsed = (await call('GET', id)).json.last_used;
  }
  t.ok(Math.abs(Date.parse(lastUsed ?? '') - usedMs) < 1_000);
});

t.test('a key that goes while its use is noted does no harm', async (t) => {
  const { mint, call, statusOfUse, folder, stop } = await startKeyAdministration(t);
  const { id, key } = await mint();
  t.equal(await statusOfUse(key), 200);
  t.equal((await call('DELETE', id)).status, 204);
  await stop();
  const after = await startKeyAdministration(t, { folder });
  t.equal((await after.call('GET')).json.total, 0);
});
