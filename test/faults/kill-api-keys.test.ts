import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { administrator, bootstrapToken } from '../support/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { keysPath } from '../support/key-administration.ts';

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const rounds = isLong ? 50 : 3;
const changesInRound = isLong ? 1_000 : 150;
const clients = 16;

/** What the answers so far say about the keys, by label. */
class Acknowledged {
  readonly there = new Map<string, { readonly id: string; readonly key: string }>();
  readonly deleted = new Map<string, string>();
  /** Asked for and not answered: either way is right. */
  readonly unsure = new Set<string>();
  changes = 0;
}

/** Creates and deletes until the gateway is gone or enough was done; every other change deletes. */
async function change(
  gateway: GatewayProcess,
  bearer: string,
  known: Acknowledged,
  name: string,
): Promise<void> {
  const own: string[] = [];
  for (let count = 0; known.changes < changesInRound; count += 1) {
    const doomed = count % 2 === 1 ? own.shift() : undefined;
    const label = doomed ?? `${name}.${count}`;
    const before = known.there.get(label);
    known.there.delete(label);
    known.unsure.add(label);
    const answer = await gateway.api
      .send(
        before === undefined
          ? { method: 'POST', path: keysPath, bearer, json: { label, scopes: ['store:read'] } }
          : { method: 'DELETE', path: keysPath + before.id, bearer },
      )
      .catch(() => undefined);
    if (answer === undefined) return;
    if (answer.status !== (before === undefined ? 201 : 204)) throw new Error(`answered ${answer.text}`);
    known.unsure.delete(label);
    known.changes += 1;
    if (before === undefined) {
      known.there.set(label, answer.json);
      own.push(label);
    } else known.deleted.set(label, before.key);
  }
}

t.setTimeout(isLong ? 900_000 : 60_000);

t.test(`killed ${rounds} times amid changes, nothing acknowledged is lost`, async (t) => {
  const { username, password } = administrator;
  const first = await startGatewayProcess(t);
  const { folder } = first;
  await first.api.activate(username, password, bootstrapToken);
  let gateway = first;
  for (let round = 1; round <= rounds; round += 1) {
    const { accessToken } = await gateway.api.signIn(username, password);
    const known = new Acknowledged();
    const killAt = 1 + Math.floor(Math.random() * (changesInRound - clients));
    const killer = (async () => {
      while (known.changes < killAt) await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
      await gateway.kill();
    })();
    const changing = Array.from({ length: clients }, (_, client) =>
      change(gateway, accessToken, known, `${round}.${client}`),
    );
    await Promise.all([killer, ...changing]);

    const db = new Database(join(folder, 'records.db'));
    t.equal(
      db.pragma('integrity_check', { simple: true }),
      'ok',
      `round ${round}, after ${known.changes} changes`,
    );
    const labels = db.prepare('SELECT label FROM api_keys WHERE label LIKE ?').pluck().all(`${round}.%`);
    db.close();
    const found = new Set(labels as string[]);
    t.equal(found.size, labels.length, 'none twice');
    t.strictSame(
      [...known.there.keys()].filter((label) => !found.has(label)),
      [],
      'what was created is there',
    );
    t.strictSame(
      [...known.deleted.keys()].filter((label) => found.has(label)),
      [],
      'what was deleted is not',
    );
    const unexplained = [...found].filter((label) => !known.there.has(label) && !known.unsure.has(label));
    t.strictSame(unexplained, [], 'and nothing else');

    gateway = await startGatewayProcess(t, { folder });
    const { api } = gateway;
    const statusOf = async (apiKey: string) => (await api.send({ path: '/api/store/x', apiKey })).status;
    for (const { key } of [...known.there.values()].slice(-5)) t.equal(await statusOf(key), 200);
    for (const key of [...known.deleted.values()].slice(-5)) t.equal(await statusOf(key), 401);
  }
});
