import { Cluster } from 'ioredis';
import { Refusal } from '../../errors.ts';
import { Availability, type AvailabilityEvents } from '../remote/availability.ts';
import { within } from '../remote/timeout.ts';
import type { CommandClient } from './clients.ts';
import type { StoreClock } from './store-clock.ts';

export interface ConnectionOptions {
  readonly open: () => CommandClient;
  readonly commandTimeoutMs: number;
  /** Learns the store's time from each probe. */
  readonly clock: StoreClock;
  readonly events: AvailabilityEvents;
}

/** Interval at which an unavailable store is probed, ms. */
const probeIntervalMs = 150;
/** Timeout for connecting, ms: there may be several Sentinels or nodes to try. */
const connectTimeoutMs = 5_000;
/** Time for the first connection before the store counts as unavailable, ms. */
const firstConnectionMs = 1_500;
/** Failures in a row after which a Cluster counts as unavailable: one node may be lost while the others serve. */
const clusterFailures = 5;

/** The connection for commands, which time out, are never queued, and fail at once while the store is unavailable. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Time for which a silent connection is kept, ms: a new one may get through where an old one hangs. */
  readonly #silenceLimitMs: number;
  /** Runs while the store is unavailable. */
  #probeTimer: NodeJS.Timeout;
  readonly #firstConnectionTimer: NodeJS.Timeout;
  #client: CommandClient;
  #silentSince: number;
  #failures = 0;
  #lastError: Error = new Error('not connected yet');
  readonly #availability: Availability;

  /** Starts to connect in the background. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#availability = new Availability({
      probe: () => this.#readTime(),
      probeTimeoutMs: options.commandTimeoutMs,
      events: { ...options.events, onAvailable: () => this.#onAvailable() },
      isDown: true,
    });
    this.#silenceLimitMs = Math.max(500, 2 * options.commandTimeoutMs);
    this.#client = this.#start();
    this.#silentSince = performance.now();
    this.#probeTimer = this.#startProbing();
    // A store that was never available is reported like one that was lost.
    this.#firstConnectionTimer = setTimeout(
      () => options.events.onUnavailable(reasonOf(this.#lastError), this.#silentSince),
      firstConnectionMs,
    );
    this.#firstConnectionTimer.unref();
  }

  /** The current client; a renewal replaces it. */
  get client(): CommandClient {
    return this.#client;
  }

  get isDown(): boolean {
    return this.#availability.isDown;
  }

  /**
   * Sends a command and parses the reply. Rejects `store_unavailable` when that takes too long or fails, even if it is `parse`
   * that throws: an unexpected reply is the store's failure.
   */
  async send<A, T>(
    command: (client: CommandClient) => Promise<A>,
    parse: (reply: A) => T,
    timeoutMs: number,
  ): Promise<T> {
    if (this.isDown) throw new Refusal('store_unavailable', { cause: new Error(reasonOf(this.#lastError)) });
    const sentOn = this.#client;
    const sentAt = performance.now();
    try {
      const reply = parse(await within(timeoutMs, command(sentOn)));
      this.#failures = 0;
      return reply;
    } catch (error) {
      // The message only: ioredis' errors carry the command, whose arguments may include a password.
      const cause = new Error(reasonOf(error));
      this.#onFailure(error, cause, sentOn, sentAt);
      throw new Refusal('store_unavailable', { cause });
    }
  }

  close(): void {
    this.#availability.close();
    clearInterval(this.#probeTimer);
    clearTimeout(this.#firstConnectionTimer);
    this.#client.disconnect();
  }

  #startProbing(): NodeJS.Timeout {
    return setInterval(() => void this.#probe(), probeIntervalMs).unref();
  }

  #start(): CommandClient {
    const started = this.#options.open();
    // The commands report failures. This listener only notes the reason for the log; without it, the event would end the process.
    const keepError = (error: Error) => {
      this.#lastError = error;
    };
    started.on('error', keepError);
    started.on('node error', keepError);
    started.on('connect', () => {
      this.#silentSince = performance.now();
    });
    started.on('ready', () => void this.#probe());
    return started;
  }

  #isHanging(): boolean {
    const limitMs = this.#client.status === 'connecting' ? connectTimeoutMs : this.#silenceLimitMs;
    return performance.now() - this.#silentSince > limitMs;
  }

  #renew(): void {
    this.#client.disconnect();
    this.#silentSince = performance.now();
    try {
      this.#client = this.#start();
    } catch (error) {
      // Perhaps a certificate file is just being replaced: the next renewal reads it again.
      this.#lastError = error as Error;
    }
  }

  #becomeUnavailable(cause: Error, sentAt: number): void {
    this.#silentSince = performance.now();
    this.#availability.fail(cause.message, sentAt);
    clearInterval(this.#probeTimer);
    if (this.isDown) this.#probeTimer = this.#startProbing();
  }

  async #probe(): Promise<void> {
    if (!this.isDown) return;
    // Even while a probe is in flight: over a hanging connection there always is one.
    if (this.#isHanging()) this.#renew();
    const probed = this.#client;
    if (probed.status !== 'ready') return;
    const error = await this.#availability.probe();
    if (error !== undefined && probed === this.#client)
      this.#lastError = error.cause instanceof Error ? error.cause : error;
  }

  async #readTime(): Promise<void> {
    const probed = this.#client;
    const sentAt = performance.now();
    const time = await timeOf(probed);
    if (probed !== this.#client) throw new Error('the connection was replaced');
    this.#options.clock.learn(time, sentAt, performance.now());
  }

  #onAvailable(): void {
    this.#failures = 0;
    clearInterval(this.#probeTimer);
    clearTimeout(this.#firstConnectionTimer);
    this.#options.events.onAvailable();
  }

  /** Decides from a failed command whether the store is unavailable. */
  #onFailure(error: unknown, cause: Error, sentOn: CommandClient, sentAt: number): void {
    // The failure of a client that was replaced says nothing about its successor.
    if (this.isDown || sentOn !== this.#client) return;
    const isCluster = sentOn instanceof Cluster;
    if (!(error instanceof Error && error.name === 'ReplyError')) {
      this.#failures += 1;
      if (this.#failures >= (isCluster ? clusterFailures : 1)) this.#becomeUnavailable(cause, sentAt);
    } else if (!isCluster && /^(?:READONLY|MOVED|MASTERDOWN)/.test(cause.message)) {
      // Another server is the master now: this connection leads to the former one.
      this.#becomeUnavailable(cause, sentAt);
      this.#renew();
    }
  }
}

/** Reason for an error, for the log: when a connection is closed, the message of ioredis is only about its own options. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /enableOfflineQueue|maxRetriesPerRequest/.test(text) ? 'the connection is closed' : text;
}

/** A server's time, epoch ms. Throws TypeError on an unexpected reply. */
export async function timeOf(client: CommandClient): Promise<number> {
  const [seconds, microseconds] = (await client.time()) as unknown as [string, string];
  const milliseconds = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  if (!Number.isSafeInteger(milliseconds)) throw new TypeError('unexpected reply to TIME');
  return milliseconds;
}
