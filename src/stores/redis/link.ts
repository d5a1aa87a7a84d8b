import { Cluster } from 'ioredis';
import { Refusal } from '../../errors.ts';
import { within } from '../timeout.ts';
import type { CommandClient } from './clients.ts';
import type { Script } from './scripts.ts';
import { createStoreClock, type StoreClock } from './store-clock.ts';

/** Whether the store can be reached, told when it changes. */
export interface LinkEvents {
  /** `reason` is what went wrong; it holds no credential. */
  onUnavailable(reason: string): void;
  onAvailable(): void;
}

/** The connection for commands: bounded in time, never queueing, telling at once that the store is away. */
export interface RedisLink {
  readonly clock: Pick<StoreClock, 'now'>;
  /** The client of now; another one after a renewal. */
  readonly client: CommandClient;
  readonly isDown: boolean;
  /**
   * Runs a script on the one key: its response's parts, the first its outcome. Rejects `store_unavailable` within the
   * command time-out; the script has then been carried out within that time or never will be.
   */
  run(script: Script, key: string, args: readonly (string | number)[]): Promise<readonly unknown[]>;
  /**
   * Sends a command that only reads, or tidies up. Rejects `store_unavailable` within the command time-out, and when
   * `parse` throws at the response.
   */
  read<A, T = A>(command: (client: CommandClient) => Promise<A>, parse?: (reply: A) => T): Promise<T>;
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
/** How long a client may take to connect, ms: it may have several Sentinels or nodes to try. */
const longestConnectMs = 5_000;
/** How long a first connection may take before the store counts as away, ms. */
const firstConnectionMs = 1_500;
/** After how many failures in a row a Cluster counts as away: one node may be lost, and the others serve. */
const clusterFailures = 5;

/** Opens the link; it connects in the background. */
export function openLink({ open, commandTimeoutMs, testClock, events }: LinkOptions): RedisLink {
  const clock =
    testClock === undefined ? createStoreClock() : { now: testClock, earliest: testClock, learn: () => {} };
  let client = start();
  let silentSince = performance.now();
  let isDown = true;
  let isClosed = false;
  let isProbing = false;
  let failures = 0;
  // How long a connection over which nothing comes is kept: a new one may go through where an old one hangs.
  const waitLimitMs = Math.max(500, 2 * commandTimeoutMs);
  let lastError: Error = new Error('not connected yet');
  const probes = setInterval(() => void probe(), probeIntervalMs);
  probes.unref();
  // One that was never there is told of like one that went.
  const firstConnection = setTimeout(() => events.onUnavailable(reasonOf(lastError)), firstConnectionMs);
  firstConnection.unref();

  function start(): CommandClient {
    const started = open();
    // What fails is seen by the commands; this keeps an error event from ending the process, and the reason for the log.
    started.on('error', (error: Error) => {
      lastError = error;
    });
    started.on('node error', (error: Error) => {
      lastError = error;
    });
    started.on('connect', () => {
      silentSince = performance.now();
    });
    started.on('ready', () => void probe());
    return started;
  }

  function isHanging(): boolean {
    const limitMs = client.status === 'connecting' ? longestConnectMs : waitLimitMs;
    return performance.now() - silentSince > limitMs;
  }

  function renew(): void {
    client.disconnect();
    silentSince = performance.now();
    try {
      client = start();
    } catch (error) {
      // A certificate file that is just being replaced: the next renewal finds it.
      lastError = error as Error;
    }
  }

  function becomeUnavailable(cause: Error): void {
    isDown = true;
    silentSince = performance.now();
    events.onUnavailable(cause.message);
  }

  async function probe(): Promise<void> {
    if (!isDown || isClosed) return;
    // Also while a probe is under way: over a connection that hangs there always is one.
    if (isHanging()) renew();
    const probed = client;
    if (isProbing || probed.status !== 'ready') return;
    isProbing = true;
    const sentAt = performance.now();
    const reply = await within(commandTimeoutMs, timeOf(probed)).catch((error: Error) => error);
    isProbing = false;
    if (isClosed || probed !== client) return;
    if (reply instanceof Error) {
      lastError = reply;
      return;
    }
    clock.learn(reply, sentAt, performance.now());
    isDown = false;
    failures = 0;
    clearTimeout(firstConnection);
    events.onAvailable();
  }

  /** Learns what a command that failed on that client tells of the store. */
  function judge(error: unknown, cause: Error, sentOn: CommandClient): void {
    // What comes of one that has been given up tells nothing of the one in its place.
    if (isDown || isClosed || sentOn !== client) return;
    const isCluster = client instanceof Cluster;
    if (!(error instanceof Error && error.name === 'ReplyError')) {
      failures += 1;
      if (failures >= (isCluster ? clusterFailures : 1)) becomeUnavailable(cause);
    } else if (!isCluster && /^(?:READONLY|MOVED|MASTERDOWN)/.test(cause.message)) {
      // Another server is the master now: this connection leads to one that was.
      becomeUnavailable(cause);
      renew();
    }
  }

  /** Sends and waits; `parse` throws on what makes no sense, which is the store's failure like any other. */
  async function attempt<A, T>(
    send: (client: CommandClient) => Promise<A>,
    parse: (reply: A) => T,
    timeoutMs: number,
  ): Promise<T> {
    if (isDown) throw new Refusal('store_unavailable', { cause: new Error(reasonOf(lastError)) });
    const sentOn = client;
    try {
      const reply = parse(await within(timeoutMs, send(sentOn)));
      failures = 0;
      return reply;
    } catch (error) {
      // Its text alone: ioredis' errors carry the command, whose arguments may be a password.
      const cause = new Error(reasonOf(error));
      judge(error, cause, sentOn);
      throw new Refusal('store_unavailable', { cause });
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
      // A clock that is behind here makes a command late too early, and is set right by that; one ahead, too late.
      const deadline = Math.floor(clock.earliest() + remainingMs);
      const reply = await attempt(
        (client) => evaluate(client, script, key, [deadline, testClock?.() ?? '', ...args]),
        scriptReply,
        remainingMs,
      );
      clock.learn(reply[1], sentAt, performance.now());
      if (reply[0] !== 'late') return reply;
      // The server's clock has leapt; now that it is known again, what is left of the time is good for one more try.
      if (performance.now() >= givenUpAt)
        throw new Refusal('store_unavailable', { cause: new Error('it was always late') });
    }
  }

  return {
    clock,
    get client() {
      return client;
    },
    get isDown() {
      return isDown;
    },
    run,
    read: (command, parse = (reply) => reply as never) => attempt(command, parse, commandTimeoutMs),
    async close() {
      isClosed = true;
      isDown = true;
      clearInterval(probes);
      clearTimeout(firstConnection);
      client.disconnect();
    },
  };
}

/** ioredis names an option of its own where a connection is gone. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.includes('enableOfflineQueue') ? 'the connection is closed' : text;
}

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

function scriptReply(reply: unknown): [string, number, ...unknown[]] {
  if (Array.isArray(reply) && typeof reply[0] === 'string' && Number.isSafeInteger(reply[1]))
    return reply as [string, number, ...unknown[]];
  throw new TypeError('no answer of a script');
}
