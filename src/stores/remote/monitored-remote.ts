import { type Call, recordsOperations, wrapCalls } from '../operations.ts';
import type { RemoteRecords } from '../records.ts';
import { isUnavailable, timedOut } from './breaker.ts';
import type { ChangeFeed } from './change-feed.ts';
import { within } from './timeout.ts';

/** Called when the store becomes unavailable and when it is available again. */
export interface RemoteEvents {
  /** `reason` holds no credential; `since`, as by `performance.now()`, is when the store last responded. */
  onUnavailable(reason: string, since: number): void;
  onAvailable(): void;
}

export interface MonitoredRemoteOptions {
  readonly remote: RemoteRecords;
  readonly feed: Pick<ChangeFeed, 'onHeartbeat' | 'notifiedUntil'>;
  readonly events: RemoteEvents;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/** Timeout of a ping, ms. */
const pingTimeoutMs = 1_000;

/**
 * Wraps the calls of a remote store to report when it becomes unavailable and when it is available again, even while
 * it is idle. It is unavailable when a call finds it so, and available again when a ping succeeds. With each heartbeat
 * of the feed it is pinged while either indicates a problem, and never while all is well.
 */
export function monitorRemote(options: MonitoredRemoteOptions): RemoteRecords {
  const monitor = new Monitor(options);
  const monitored = wrapCalls(options.remote, recordsOperations, (call, _, name) => monitor.wrap(call, name));
  options.feed.onHeartbeat((isHealthy) => monitor.onHeartbeat(isHealthy, monitored));
  return monitored;
}

class Monitor {
  readonly #feed: MonitoredRemoteOptions['feed'];
  readonly #events: RemoteEvents;
  readonly #elapsed: () => number;
  #isDown = false;
  #isPinging = false;
  #isClosed = false;
  /** When the last ping that succeeded was sent. */
  #availableAt = Number.NEGATIVE_INFINITY;

  constructor({ feed, events, elapsed = () => performance.now() }: MonitoredRemoteOptions) {
    this.#feed = feed;
    this.#events = events;
    this.#elapsed = elapsed;
  }

  wrap(call: Call, name: keyof RemoteRecords): Call {
    return async (...args) => {
      if (name === 'close') this.#isClosed = true;
      const sentAt = this.#elapsed();
      try {
        const result = await call(...args);
        if (name === 'ping') this.#onPong(sentAt);
        return result;
      } catch (error) {
        this.#onFailure(error, sentAt);
        throw error;
      }
    };
  }

  onHeartbeat(isHealthy: boolean, monitored: RemoteRecords): void {
    if (this.#isDown || !isHealthy) void this.#ping(monitored);
  }

  async #ping(monitored: RemoteRecords): Promise<void> {
    if (this.#isPinging || this.#isClosed) return;
    this.#isPinging = true;
    const sentAt = this.#elapsed();
    const result = Promise.resolve(monitored.ping());
    await within(pingTimeoutMs, result, timedOut).catch((error) => this.#onFailure(error, sentAt));
    this.#isPinging = false;
  }

  #onFailure(error: unknown, sentAt: number): void {
    // A call sent before the store was available again may fail only now.
    if (this.#isDown || this.#isClosed || sentAt < this.#availableAt || !isUnavailable(error)) return;
    this.#isDown = true;
    // The feed may still be connected to a store that fails its calls: then it has been unavailable since the call was sent.
    const { notifiedUntil } = this.#feed;
    const since = notifiedUntil === 0 ? sentAt : Math.min(notifiedUntil, sentAt);
    this.#events.onUnavailable(error.cause instanceof Error ? error.cause.message : error.code, since);
  }

  #onPong(sentAt: number): void {
    // A late response has timed out, as that of any read would have.
    if (this.#elapsed() - sentAt >= pingTimeoutMs) return;
    this.#availableAt = Math.max(this.#availableAt, sentAt);
    if (!this.#isDown || this.#isClosed) return;
    this.#isDown = false;
    this.#events.onAvailable();
  }
}
