import t from 'tap';
import { administrativeChanges } from '../support/administration/administrative-changes.ts';
import {
  judgeChanges,
  onePointOf,
  pointsOf,
  prepareStage,
  someOf,
} from '../support/administration/killed-changes.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const timeout = isLong ? 3_000_000 : 600_000;
t.setTimeout(timeout);
const { ending, other } = administrativeChanges;
const sqlite = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };
/** Also when the server got the COMMIT, and may or may not have done it. */
const pointsOnServer = (statements: number) => [...pointsOf(statements), 'sent' as const];

t.test(
  'a change that is killed at any statement leaves itself and its audit line, or neither',
  { timeout },
  async (t) => {
    const stage = await prepareStage(t, sqlite);
    await judgeChanges(t, stage, someOf({ ...ending, ...other }, 12), onePointOf);
  },
);

t.test('nor does an ended session come back if Redis was paused in the midst', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const stage = await prepareStage(t, { ...sqlite, sessions: redis.url, redis });
  await judgeChanges(t, stage, someOf(ending), pointsOf);
});

t.test('the same holds on PostgreSQL', { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  const postgres = await startPostgres(t);
  const stage = await prepareStage(t, { ...sqlite, records: postgres.url, postgres });
  await judgeChanges(t, stage, someOf({ ...ending, ...other }), pointsOnServer);
});
