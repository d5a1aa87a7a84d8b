import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { AcknowledgedKeys, changeKeys, judgeUse } from '../support/administration/acknowledged-keys.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const rounds = isLong ? 50 : 3;
const changesInRound = isLong ? 1_000 : 150;
const clients = 16;
const keysWithoutSet = `SELECT count(*) FROM api_keys k WHERE label LIKE ?
  AND NOT EXISTS (SELECT * FROM api_key_scope_sets s WHERE s.key_id = k.id)`;
/** Keys without the event of their creation, events of one that was not made, and events of a deletion that was not. */
const halfAudited = `SELECT
  (SELECT count(*) FROM api_keys k WHERE NOT EXISTS
    (SELECT * FROM audit a WHERE a.event = 'api_key_created' AND a.target_id = k.id)) +
  (SELECT count(*) FROM audit c WHERE c.event = 'api_key_created'
    AND NOT EXISTS (SELECT * FROM api_keys k WHERE k.id = c.target_id)
    AND NOT EXISTS (SELECT * FROM audit d WHERE d.event = 'api_key_deleted' AND d.target_id = c.target_id)) +
  (SELECT count(*) FROM audit d WHERE d.event = 'api_key_deleted'
    AND EXISTS (SELECT * FROM api_keys k WHERE k.id = d.target_id))`;
const auditNumbers =
  'SELECT s.seq, count(*) AS events, max(a.seq) AS highest FROM audit_state s, audit a GROUP BY s.seq';

t.setTimeout(isLong ? 900_000 : 600_000);

t.test(`killed ${rounds} times amid changes, nothing acknowledged is lost`, async (t) => {
  const { username, password } = administrator;
  const first = await startGatewayProcess(t);
  const { folder } = first;
  await first.api.activate(username, password, bootstrapToken);
  let gateway = first;
  for (let round = 1; round <= rounds; round += 1) {
    const { accessToken } = await gateway.api.signIn(username, password);
    const known = new AcknowledgedKeys();
    const killAt = 1 + Math.floor(Math.random() * (changesInRound - clients));
    const killer = (async () => {
      while (known.changes < killAt) await sleep(Math.random() * 3);
      await gateway.kill();
    })();
    const changing = Array.from({ length: clients }, (_, client) =>
      changeKeys(gateway.api, accessToken, known, { name: `${round}.${client}`, until: changesInRound }),
    );
    await Promise.all([killer, ...changing]);

    const db = new Database(join(folder, 'records.db'));
    t.equal(
      db.pragma('integrity_check', { simple: true }),
      'ok',
      `round ${round}, after ${known.changes} changes`,
    );
    const labels = db.prepare('SELECT label FROM api_keys WHERE label LIKE ?').pluck().all(`${round}.%`);
    const halves = db.prepare(keysWithoutSet).pluck().get(`${round}.%`);
    const audited = db.prepare(halfAudited).pluck().get();
    const { seq, events, highest } = db.prepare<[], Record<string, number>>(auditNumbers).get()!;
    db.close();
    const found = new Set(labels as string[]);
    t.equal(found.size, labels.length, 'none twice');
    t.strictSame(known.problems(found), { lost: [], undead: [], unexplained: [] });
    t.equal(halves, 0, 'and none half');
    t.equal(audited, 0, 'none without its audit event, and no event of what was not done');
    t.strictSame([events, highest], [seq, seq], 'the numbers of the events have no gap');

    gateway = await startGatewayProcess(t, { folder });
    await judgeUse(t, gateway.api, known);
  }
});
