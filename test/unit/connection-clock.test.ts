import t from 'tap';
import { type ClientTimeout, ConnectionClock, phase } from '../../src/http1/server/connection-clock.ts';

const limits = {
  headerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 20_000,
  bodyJudgedAfterMs: 30_000,
  bodyIdleTimeoutMs: 30_000,
  writeIdleTimeoutMs: 40_000,
};

interface Row {
  readonly name: string;
  /** The phases it has been through; the last one is current. */
  readonly phases: readonly (keyof typeof phase)[];
  readonly unsent?: number;
  readonly paused?: boolean;
  readonly wantsDrain?: boolean;
  readonly readsBody?: boolean;
  /** When it times out; null: never. */
  readonly afterMs: number | null;
  readonly timeout?: ClientTimeout;
}

const rows: readonly Row[] = [
  { name: 'a connection without a request', phases: [], afterMs: 10_000, timeout: 'request' },
  {
    name: 'a connection between two requests',
    phases: ['exchange', 'idle'],
    afterMs: 20_000,
    timeout: 'request',
  },
  { name: 'an unfinished head', phases: ['head'], afterMs: 10_000, timeout: 'head' },
  {
    name: 'an unfinished head, while the previous response is still being sent',
    phases: ['exchange', 'idle', 'head'],
    unsent: 1,
    afterMs: 10_000,
    timeout: 'head',
  },
  { name: 'a request that is being handled', phases: ['exchange'], afterMs: null },
  {
    name: 'a body that is being read',
    phases: ['exchange'],
    readsBody: true,
    afterMs: 30_000,
    timeout: 'body',
  },
  {
    name: 'a body that we have paused',
    phases: ['exchange'],
    readsBody: true,
    paused: true,
    afterMs: null,
  },
  {
    name: 'a response that the client does not read, whatever it sends',
    phases: ['exchange'],
    readsBody: true,
    wantsDrain: true,
    afterMs: 40_000,
    timeout: 'reading',
  },
  {
    name: 'the end of a response that the client does not read',
    phases: ['exchange', 'idle'],
    unsent: 1,
    afterMs: 40_000,
    timeout: 'reading-end',
  },
  {
    name: 'a body that is discarded',
    phases: ['exchange', 'discarding'],
    afterMs: 1_000,
    timeout: 'unwanted-body',
  },
  {
    name: 'a client that does not close its side',
    phases: ['exchange', 'ending'],
    afterMs: 1_000,
    timeout: 'close',
  },
];

for (const row of rows)
  t.test(row.name, async (t) => {
    const {
      phases,
      unsent = 0,
      paused = false,
      wantsDrain = false,
      readsBody = false,
      afterMs,
      timeout,
    } = row;
    const beforeMs = performance.now();
    const clock = new ConnectionClock({ writableLength: unsent, isPaused: () => paused }, limits);
    for (const next of phases) clock.enter(phase[next]);
    if (wantsDrain) clock.waitForDrain();
    const afterwardsMs = performance.now();
    if (afterMs === null) {
      t.equal(clock.timeoutAt(afterwardsMs + 1e9, readsBody), null);
      return;
    }
    t.equal(clock.timeoutAt(beforeMs + afterMs - 500, readsBody), null);
    t.equal(clock.timeoutAt(afterwardsMs + afterMs + 500, readsBody), timeout);
  });
