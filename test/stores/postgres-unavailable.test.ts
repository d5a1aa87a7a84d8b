import t from 'tap';
import { listenerName } from '../../src/stores/postgres/records.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { judgeOutage } from '../support/stores/postgres-outage.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { recordsWays, startRecordsStage } from '../support/stores/postgres-unavailable.ts';

const timeout = 600_000;
const rounds = isLong ? 3 : 1;
t.setTimeout(timeout);

if (requirePostgres(t)) {
  const stage = await startRecordsStage(t);
  for (let round = 1; round <= rounds; round++)
    for (const [name, way] of Object.entries(recordsWays))
      t.test(`PostgreSQL ${name}, ${round}`, { timeout }, (t) => judgeOutage(t, stage, way));

  t.test('no connection is left at the server', async () => {
    const count = async (name: string) => {
      const [row] = await stage.server.query<{ count: number }>(
        'SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1',
        [name],
      );
      return row!.count;
    };
    // The relay never passed on the end of the connections in its black hole.
    stage.relay.cut();
    await eventually('two gateways have no more than allowed', async () => (await count('postern')) <= 2 * 8);
    await eventually('each listens on one', async () => (await count(listenerName)) === 2);
  });
}
