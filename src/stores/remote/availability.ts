import { timedOut } from './breaker.ts';
import { within } from './timeout.ts';

/** Called when a store becomes unavailable and when it is available again. */
export interface AvailabilityEvents {
  /** `reason` holds no credential; `since`, by `performance.now()`, is the instant from which the store counts as unavailable. */
  onUnavailable(reason: string, since: number): void;
  onAvailable(): void;
}

export interface AvailabilityOptions {
  /** Asks the store if it can be used; rejects if not. */
  readonly probe: () => Promise<unknown>;
  readonly probeTimeoutMs: number;
  readonly events: AvailabilityEvents;
  /** True if the store counts as unavailable from the start, without an event, until a probe succeeds; default false. */
  readonly isDown?: boolean;
  /** A clock like `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/**
 * Availability of a remote store, which is unavailable once a call has found it so, and available again when a probe succeeds.
 * Its owner sends probes by a timer or with heartbeats.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #elapsed: () => number;
  #isDown: boolean;
  #isProbing = false;
  #isClosed = false;
  /** Instant of the last probe that succeeded. */
  #availableAt = Number.NEGATIVE_INFINITY;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#isDown = options.isDown ?? false;
  }

  /** True while the store is unavailable, and once it is closed. */
  get isDown(): boolean {
    return this.#isDown || this.#isClosed;
  }

  /** Notes that a call sent at `sentAt` found the store unavailable; `since` as in the event. */
  fail(reason: string, sentAt: number, since = sentAt): void {
    // A call sent before the store was available again may fail only now.
    if (this.isDown || sentAt < this.#availableAt) return;
    this.#isDown = true;
    this.#options.events.onUnavailable(reason, since);
  }

  /** Notes that a probe sent at `sentAt` succeeded, unless it took too long. */
  succeed(sentAt: number): void {
    if (this.#elapsed() - sentAt >= this.#options.probeTimeoutMs) return;
    this.#availableAt = Math.max(this.#availableAt, sentAt);
    if (!this.#isDown || this.#isClosed) return;
    this.#isDown = false;
    this.#options.events.onAvailable();
  }

  /** Probes the store, unless a probe is in flight; resolves to the error if the probe fails. */
  async probe(): Promise<Error | undefined> {
    if (this.#isProbing || this.#isClosed) return undefined;
    this.#isProbing = true;
    const sentAt = this.#elapsed();
    const { probe, probeTimeoutMs } = this.#options;
    try {
      await within(probeTimeoutMs, Promise.resolve(probe()), timedOut);
      this.succeed(sentAt);
      return undefined;
    } catch (error) {
      return error as Error;
    } finally {
      this.#isProbing = false;
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}
