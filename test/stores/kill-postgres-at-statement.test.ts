import t from 'tap';
import { administrativeChanges } from '../support/administration/administrative-changes.ts';
import { judgeChanges, pointsOf, prepareStage, someOf } from '../support/administration/killed-changes.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const timeout = isLong ? 3_000_000 : 600_000;
t.setTimeout(timeout);
const { ending, other } = administrativeChanges;
const points = (statements: number) => [...pointsOf(statements), 'sent' as const];

t.test(
  'a change whose PostgreSQL is killed at any statement leaves itself and its audit line, or neither',
  { timeout },
  async (t) => {
    if (!requirePostgres(t)) return;
    const postgres = await startPostgres(t);
    const stores = { records: postgres.url, sessions: 'sqlite:sessions.db' };
    const stage = await prepareStage(t, { ...stores, postgres, victim: 'postgres' });
    await judgeChanges(t, stage, someOf({ ...ending, ...other }), points);
  },
);

t.test('nor does an ended session come back if Redis was paused in the midst', { timeout }, async (t) => {
  if (!requirePostgres(t) || !requireRedis(t)) return;
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)]);
  const stores = { records: postgres.url, sessions: redis.url };
  const stage = await prepareStage(t, { ...stores, postgres, redis, victim: 'postgres' });
  await judgeChanges(t, stage, someOf(ending), points);
});
