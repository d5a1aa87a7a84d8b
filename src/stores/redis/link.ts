import { Refusal } from '../../errors.ts';
import type { CommandClient } from './clients.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import type { Keys } from './keys.ts';
import type { Script } from './scripts.ts';
import { createStoreClock, createTestClock, type StoreClock } from './store-clock.ts';

export interface LinkOptions extends Omit<ConnectionOptions, 'clock'> {
  readonly keys: Keys;
  /** A clock to use instead of the store's own, epoch ms: for tests. */
  readonly testClock?: (() => number) | undefined;
  /** Elapsed milliseconds, which go on steadily when `testClock` is set; default: `performance.now()`. */
  readonly testElapsed?: (() => number) | undefined;
}

/** A connection that runs scripts, with the key names and the clock of the stores. */
export class RedisLink extends Connection {
  readonly clock: StoreClock;
  /** Names of everything that the stores keep in Redis. */
  readonly keys: Keys;
  readonly #options: LinkOptions;

  constructor(options: LinkOptions) {
    const { testClock, testElapsed } = options;
    const clock = testClock === undefined ? createStoreClock() : createTestClock(testClock, testElapsed);
    super({ ...options, clock });
    this.clock = clock;
    this.keys = options.keys;
    this.#options = options;
  }

  /**
   * Runs a script on a key, or on keys of one Cluster slot; resolves to the parts of its reply: its outcome, the time (epoch ms),
   * and the rest. Rejects `store_unavailable` within the command timeout; the script has then run within that time or never will.
   */
  async run(
    script: Script,
    key: string | readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    const { commandTimeoutMs, testClock } = this.#options;
    const givenUpAt = performance.now() + commandTimeoutMs;
    for (;;) {
      const sentAt = performance.now();
      const remainingMs = Math.max(1, givenUpAt - sentAt);
      // If our estimate of the server's clock is behind, the script sees its deadline pass too early; its reply then
      // corrects the estimate.
      const deadline = Math.floor(this.clock.earliest() + remainingMs);
      const reply = await this.send(
        (client) => evaluate(client, script, [key].flat(), [deadline, testClock?.() ?? '', ...args]),
        (came) => parseScriptReply(came, script),
        remainingMs,
      );
      this.clock.learn(reply[1], sentAt, performance.now());
      if (reply[0] !== 'expired') return reply;
      // The server's clock has jumped; now that it is known again, the remaining time allows another try.
      if (performance.now() >= givenUpAt)
        throw new Refusal('store_unavailable', { cause: new Error('deadline passed on every attempt') });
    }
  }

  /**
   * Sends a command that only reads, or cleans up. Rejects `store_unavailable` within the command timeout, and when
   * `parse` throws.
   */
  read<A, T = A>(
    command: (client: CommandClient) => Promise<A>,
    parse: (reply: A) => T = (reply) => reply as never,
  ): Promise<T> {
    return this.send(command, parse, this.#options.commandTimeoutMs);
  }
}

/** Runs a script by EVALSHA, or by EVAL if the server doesn't know it (any more). */
async function evaluate(
  client: CommandClient,
  { sha, source }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(source, keys.length, ...keys, ...args);
  }
}

function parseScriptReply(reply: unknown, { outcomes }: Script): [string, number, ...unknown[]] {
  if (Array.isArray(reply) && Number.isSafeInteger(reply[1]))
    if (reply[0] === 'expired' || outcomes.includes(reply[0])) return reply as [string, number, ...unknown[]];
  throw new TypeError('unexpected reply to a script');
}
