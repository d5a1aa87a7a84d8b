import t from 'tap';
import { judgeWithin, timed } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import {
  type RecordsStage,
  type RecordsWay,
  recordsWays,
  startRecordsStage,
} from '../support/stores/postgres-unavailable.ts';

/** How soon the log reports it. */
const limitMs = 2_000;

const ways: Readonly<Record<string, RecordsWay>> = {
  ...recordsWays,
  'read-only': {
    go: ({ server }) => server.makeReadOnly(),
    comeBack: ({ server }) => server.makeWritable(),
  },
};

/** What the gateway logs about its stores, in order. */
function saidBy({ gateway }: RecordsStage): Record<string, unknown>[] {
  return gateway
    .logLines()
    .filter(({ msg }) => msg === 'store unavailable' || msg === 'store available again');
}

if (requirePostgres(t)) {
  const stage = await startRecordsStage(t);
  for (const [name, way] of Object.entries(ways))
    t.test(`PostgreSQL ${name} is logged, even without requests`, { timeout: 600_000 }, async (t) => {
      const before = saidBy(stage).length;
      const judgeSaid = async (count: number) => {
        const { tookMs } = await timed(
          eventually('it is logged', () => saidBy(stage).length === before + count),
        );
        judgeWithin(t, 'it is logged', tookMs, limitMs);
      };
      await way.go(stage);
      await judgeSaid(1);
      await way.comeBack(stage);
      await judgeSaid(2);
      t.match(saidBy(stage).slice(before), [
        { msg: 'store unavailable', store: 'records', reason: /./ },
        { msg: 'store available again', store: 'records' },
      ]);
    });
}
