import { recordsOperations, wrapCalls } from '../operations.ts';
import type { RemoteRecords } from '../records.ts';
import { Availability, type AvailabilityOptions } from './availability.ts';
import { isUnavailable } from './breaker.ts';
import type { ChangeFeed } from './change-feed.ts';

/** Timeout of a ping, ms. */
const pingTimeoutMs = 1_000;

/**
 * Wraps the calls of a remote store to report when it becomes unavailable and when it is available again, even while no calls
 * are made. With each heartbeat of the feed the store is pinged if that heartbeat or a call has shown a problem, otherwise never.
 */
export function monitorRemote({
  remote,
  feed,
  events,
  elapsed = () => performance.now(),
}: {
  readonly remote: RemoteRecords;
  readonly feed: Pick<ChangeFeed, 'onHeartbeat' | 'notifiedUntil'>;
} & Pick<AvailabilityOptions, 'events' | 'elapsed'>): RemoteRecords {
  const availability = new Availability({
    probe: async () => remote.ping(),
    probeTimeoutMs: pingTimeoutMs,
    events,
    elapsed,
  });

  function noteFailure(error: unknown, sentAt: number): void {
    if (!isUnavailable(error)) return;
    // The feed may still be connected to a store that fails its calls: then it has been unavailable since the call was sent.
    const { notifiedUntil } = feed;
    const since = notifiedUntil === 0 ? sentAt : Math.min(notifiedUntil, sentAt);
    availability.fail(error.cause instanceof Error ? error.cause.message : error.code, sentAt, since);
  }

  feed.onHeartbeat((isHealthy) => {
    if (isHealthy && !availability.isDown) return;
    const sentAt = elapsed();
    void availability.probe().then((error) => noteFailure(error, sentAt));
  });
  return wrapCalls(remote, recordsOperations, (call, _, name) => async (...args) => {
    if (name === 'close') availability.close();
    const sentAt = elapsed();
    try {
      const result = await call(...args);
      if (name === 'ping') availability.succeed(sentAt);
      return result;
    } catch (error) {
      noteFailure(error, sentAt);
      throw error;
    }
  });
}
