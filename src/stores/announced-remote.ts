import { isUnavailable, timedOut } from './breaker.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { RemoteRecords } from './remembered-records.ts';
import { within } from './timeout.ts';
import { type Call, wrapCalls } from './wrap-calls.ts';

/** Told when the store goes away and comes back. */
export interface RemoteEvents {
  /** `reason` holds no credential; `since`, as by `performance.now()`, is when it was last heard. */
  onUnavailable(reason: string, since: number): void;
  onAvailable(): void;
}

export interface AnnouncedRemoteOptions {
  readonly remote: RemoteRecords;
  readonly feed: Pick<ChangeFeed, 'onHeartbeat' | 'notifiedUntil'>;
  readonly events: RemoteEvents;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/** How long it may take to find out whether the store is there, ms. */
const pingTimeoutMs = 1_000;

/**
 * The same store, which tells when it goes away and comes back, also while nobody asks it anything. It is away when a call
 * can't have it, and back when a ping says so; with every beat of the feed it is pinged while either says that something is
 * wrong, and never while all is well.
 */
export function announceRemote({ remote, feed, events, elapsed }: AnnouncedRemoteOptions): RemoteRecords {
  const now = elapsed ?? (() => performance.now());
  let isDown = false;
  let isAsking = false;
  let isClosed = false;
  /** When the last ping was sent that was answered. */
  let thereAt = Number.NEGATIVE_INFINITY;
  const announced = wrapCalls(remote, announcing);

  feed.onHeartbeat((isWell) => {
    if (isDown || !isWell) void findOut();
  });

  async function findOut(): Promise<void> {
    if (isAsking || isClosed) return;
    isAsking = true;
    const at = now();
    const result = Promise.resolve(announced.ping());
    await within(pingTimeoutMs, result, timedOut).catch((error) => failed(error, at));
    isAsking = false;
  }

  /** What was asked at `at` could not be had. */
  function failed(error: unknown, at: number): void {
    // Somebody who asked before it came back may hear of it only now.
    if (isDown || isClosed || at < thereAt || !isUnavailable(error)) return;
    isDown = true;
    // It may be heard well and be of no use: then it has been away since it was asked.
    const since = feed.notifiedUntil === 0 ? at : Math.min(feed.notifiedUntil, at);
    events.onUnavailable(error.cause instanceof Error ? error.cause.message : error.code, since);
  }

  function pinged(at: number): void {
    // By then it has been given up, as every read would have been.
    if (now() - at >= pingTimeoutMs) return;
    thereAt = Math.max(thereAt, at);
    if (!isDown || isClosed) return;
    isDown = false;
    events.onAvailable();
  }

  function announcing(call: Call, name: keyof RemoteRecords): Call {
    return async (...args) => {
      if (name === 'close') isClosed = true;
      const at = now();
      try {
        const result = await call(...args);
        if (name === 'ping') pinged(at);
        return result;
      } catch (error) {
        failed(error, at);
        throw error;
      }
    };
  }

  return announced;
}
