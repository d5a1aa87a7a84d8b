import t from 'tap';
import { isLong } from '../support/gateway-under-load.ts';
import { recordsWays, startRecordsStage } from '../support/postgres-away.ts';
import { judgeOutage } from '../support/postgres-outage.ts';
import { requirePostgres } from '../support/postgres-programs.ts';

const timeout = isLong ? 300_000 : 60_000;
const rounds = isLong ? 3 : 1;
t.setTimeout(timeout);

if (requirePostgres(t)) {
  const stage = await startRecordsStage(t);
  for (let round = 1; round <= rounds; round++)
    for (const [name, way] of Object.entries(recordsWays))
      t.test(`PostgreSQL ${name}, ${round}`, { timeout }, (t) => judgeOutage(t, stage, way));

  t.test('the connections at the server are no more than were allowed', async (t) => {
    const rows = await stage.server.query<{ name: string; count: number }>(
      `SELECT application_name AS name, count(*)::int FROM pg_stat_activity
        WHERE application_name LIKE 'postern%' GROUP BY 1`,
    );
    const { postern = 0, 'postern-listener': listeners } = Object.fromEntries(
      rows.map(({ name, count }) => [name, count]),
    );
    t.ok(postern <= 2 * 8, `${postern} of two gateways`);
    t.equal(listeners, 2);
  });
}
