import { Cluster } from 'ioredis';
import { Refusal } from '../../errors.ts';
import type { CommandClient } from './clients.ts';
import type { Script } from './scripts.ts';
import { createStoreClock, type StoreClock } from './store-clock.ts';

/** Whether the store can be reached, told when it changes. */
export interface LinkEvents {
  /** `reason` is what went wrong; it holds no credential. */
  onAway(reason: string): void;
  onBack(): void;
}

/** The connection for commands: bounded in time, never queueing, telling at once that the store is away. */
export interface RedisLink {
  readonly clock: Pick<StoreClock, 'now'>;
  /** The client of now; another one after a renewal. */
  readonly client: CommandClient;
  readonly isAway: boolean;
  /**
   * Runs a script on the one key: its answer's parts, the first its outcome. Rejects `store_unavailable` within the
   * command time-out; the script has then been carried out within that time or never will be.
   */
  run(script: Script, key: string, args: readonly (string | number)[]): Promise<readonly unknown[]>;
  /** Sends a command that only reads. Rejects `store_unavailable` within the command time-out. */
  read<T>(command: (client: CommandClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly open: () => CommandClient;
  readonly commandTimeoutMs: number;
  /** A clock to go by instead of the store's own, epoch ms: for tests. */
  readonly testClock: (() => number) | undefined;
  readonly events: LinkEvents;
}

/** How often a store that is away is asked whether it is back, in ms. */
const probeIntervalMs = 150;
/** After how many failures in a row a Cluster counts as away: one node may be lost, and the others serve. */
const clusterFailures = 5;

/** Opens the link; it connects in the background. */
export function openLink({ open, commandTimeoutMs, testClock, events }: LinkOptions): RedisLink {
  const clock = testClock === undefined ? createStoreClock() : { now: testClock, learn: () => {} };
  let client = start();
  let clientSince = performance.now();
  let isAway = true;
  let isClosed = false;
  let isProbing = false;
  let failures = 0;
  // How long a connection over which nothing comes is kept: a new one may go through where an old one hangs.
  const patienceMs = Math.max(1_000, 3 * commandTimeoutMs);
  let lastError: Error = new Error('not connected yet');
  const probes = setInterval(() => void probe(), probeIntervalMs);
  probes.unref();

  function start(): CommandClient {
    const started = open();
    // What fails is seen by the commands; this keeps an error event from ending the process, and the reason for the log.
    started.on('error', (error: Error) => {
      lastError = error;
    });
    started.on('node error', (error: Error) => {
      lastError = error;
    });
    started.on('ready', () => void probe());
    return started;
  }

  function renew(): void {
    client.disconnect();
    clientSince = performance.now();
    try {
      client = start();
    } catch (error) {
      // A certificate file that is just being replaced: the next renewal finds it.
      lastError = error as Error;
    }
  }

  function goAway(cause: Error): void {
    if (isAway || isClosed) return;
    isAway = true;
    clientSince = performance.now();
    events.onAway(cause.message);
  }

  async function probe(): Promise<void> {
    if (!isAway || isClosed || isProbing) return;
    if (client.status === 'ready') {
      isProbing = true;
      const sentAt = performance.now();
      const answer = await within(commandTimeoutMs, timeOf(client)).catch((error: Error) => error);
      isProbing = false;
      if (isClosed) return;
      if (!(answer instanceof Error)) {
        clock.learn(answer, sentAt, performance.now());
        isAway = false;
        failures = 0;
        events.onBack();
        return;
      }
      lastError = answer;
    }
    if (performance.now() - clientSince > patienceMs) renew();
  }

  /** What a failed command tells of the store; gives the refusal for its caller. */
  function judge(error: unknown): Refusal {
    // Its text alone: ioredis' errors carry the command, whose arguments may be a password.
    const cause = new Error(error instanceof Error ? error.message : String(error));
    const isCluster = client instanceof Cluster;
    if (!(error instanceof Error && error.name === 'ReplyError')) {
      failures += 1;
      if (failures >= (isCluster ? clusterFailures : 1)) goAway(cause);
    } else if (!isCluster && /^(?:READONLY|MOVED|MASTERDOWN)/.test(cause.message)) {
      // Another server is the master now: this connection leads to one that was.
      goAway(cause);
      renew();
    }
    return new Refusal('store_unavailable', { cause });
  }

  async function attempt<T>(send: (client: CommandClient) => Promise<T>, timeoutMs: number): Promise<T> {
    if (isAway) throw new Refusal('store_unavailable', { cause: new Error(lastError.message) });
    try {
      const answer = await within(timeoutMs, send(client));
      failures = 0;
      return answer;
    } catch (error) {
      throw judge(error);
    }
  }

  async function run(
    script: Script,
    key: string,
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const givenUpAt = performance.now() + commandTimeoutMs;
    for (;;) {
      const sentAt = performance.now();
      const remainingMs = Math.max(1, givenUpAt - sentAt);
      const deadline = Math.floor(clock.now() + remainingMs);
      const answer = await attempt<unknown>(
        (client) => evaluate(client, script, key, [deadline, testClock?.() ?? '', ...args]),
        remainingMs,
      );
      if (!isScriptAnswer(answer)) throw judge(new TypeError('no answer of a script'));
      clock.learn(answer[1], sentAt, performance.now());
      if (answer[0] !== 'late') return answer;
      // The server's clock has leapt; now that it is known again, what is left of the time is good for one more try.
      if (performance.now() >= givenUpAt) throw new Refusal('store_unavailable', { cause: timedOut });
    }
  }

  return {
    clock,
    get client() {
      return client;
    },
    get isAway() {
      return isAway;
    },
    run,
    read: (command) => attempt(command, commandTimeoutMs),
    async close() {
      isClosed = true;
      isAway = true;
      clearInterval(probes);
      client.disconnect();
    },
  };
}

const timedOut = new Error('the command timed out');

/** EVALSHA, and EVAL where the server does not know the script (any more). */
async function evaluate(
  client: CommandClient,
  { sha, source }: Script,
  key: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha, 1, key, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(source, 1, key, ...args);
  }
}

async function timeOf(client: CommandClient): Promise<number> {
  const [seconds, microseconds] = (await client.time()) as unknown as [string, string];
  const milliseconds = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  if (!Number.isSafeInteger(milliseconds)) throw new TypeError('no answer of TIME');
  return milliseconds;
}

function isScriptAnswer(answer: unknown): answer is [string, number, ...unknown[]] {
  return Array.isArray(answer) && typeof answer[0] === 'string' && Number.isSafeInteger(answer[1]);
}

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // An answer that is there already counts, also when this process itself was too busy to read it.
    const timer = setTimeout(() => setImmediate(() => reject(timedOut)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
