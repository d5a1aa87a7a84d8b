import t from 'tap';
import { ConnectionClock, type Late, phase } from '../../src/http1/connection-clock.ts';

const limits = {
  headerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 20_000,
  bodyJudgedAfterMs: 30_000,
  bodyIdleTimeoutMs: 30_000,
  writeIdleTimeoutMs: 40_000,
};

interface Row {
  readonly name: string;
  /** How it came to stand where it stands. */
  readonly phases: readonly (keyof typeof phase)[];
  readonly unsent?: number;
  readonly paused?: boolean;
  readonly wantsDrain?: boolean;
  readonly readsBody?: boolean;
  /** When it gets late; null: never. */
  readonly afterMs: number | null;
  readonly late?: Late;
}

const rows: readonly Row[] = [
  { name: 'a connection without a request', phases: [], afterMs: 10_000, late: 'request' },
  { name: 'one between two requests', phases: ['exchange', 'idle'], afterMs: 20_000, late: 'request' },
  { name: 'an unfinished head', phases: ['head'], afterMs: 10_000, late: 'head' },
  {
    name: 'an unfinished head, while the answer before it still goes out',
    phases: ['exchange', 'idle', 'head'],
    unsent: 1,
    afterMs: 10_000,
    late: 'head',
  },
  { name: 'a request that is worked on', phases: ['exchange'], afterMs: null },
  { name: 'a body that is read', phases: ['exchange'], readsBody: true, afterMs: 30_000, late: 'body' },
  {
    name: 'a body held back by us',
    phases: ['exchange'],
    readsBody: true,
    paused: true,
    afterMs: null,
  },
  {
    name: 'an answer that is not read, whatever is sent',
    phases: ['exchange'],
    readsBody: true,
    wantsDrain: true,
    afterMs: 40_000,
    late: 'reading',
  },
  {
    name: 'the end of an answer that is not read',
    phases: ['exchange', 'idle'],
    unsent: 1,
    afterMs: 40_000,
    late: 'reading-end',
  },
  { name: 'a body nobody wants', phases: ['exchange', 'discarding'], afterMs: 1_000, late: 'unwanted-body' },
  { name: 'a client that does not close', phases: ['exchange', 'ending'], afterMs: 1_000, late: 'close' },
];

for (const row of rows)
  t.test(row.name, async (t) => {
    const { phases, unsent = 0, paused = false, wantsDrain = false, readsBody = false, afterMs, late } = row;
    const clock = new ConnectionClock({ writableLength: unsent, isPaused: () => paused }, limits);
    for (const next of phases) clock.enter(phase[next]);
    if (wantsDrain) clock.waitForDrain();
    const now = performance.now();
    if (afterMs === null) {
      t.equal(clock.late(now + 1e9, readsBody), null);
      return;
    }
    t.equal(clock.late(now + afterMs - 500, readsBody), null);
    t.equal(clock.late(now + afterMs + 500, readsBody), late);
  });
