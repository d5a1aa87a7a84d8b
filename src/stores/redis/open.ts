import type { AvailabilityEvents } from '../remote/availability.ts';
import type { ServerClock } from '../remote/server-clock.ts';
import { createRedisAttempts } from './attempts.ts';
import { openCommandClient, openSubscriptionClient, type RedisAccess } from './clients.ts';
import { createKeys } from './keys.ts';
import { type LinkOptions, RedisLink } from './link.ts';
import type { LivenessOptions } from './liveness.ts';
import { compareRedisClocks } from './server-clocks.ts';
import { SessionEnds } from './session-ends.ts';
import { createRedisSessions } from './sessions.ts';
import { createRedisSingleUse } from './single-use.ts';

export interface RedisStoresEvents extends AvailabilityEvents {
  /** Redis doesn't let this process subscribe to ended sessions, for that reason: it has to query far more often. */
  onNotificationsLost(reason: string): void;
}

export interface RedisStoresOptions
  extends Pick<LinkOptions, 'commandTimeoutMs' | 'testClock' | 'testElapsed'>,
    Pick<LivenessOptions, 'livenessAgeMs' | 'staleIfErrorMs'> {
  readonly access: RedisAccess;
  readonly tenant: string;
  readonly events: RedisStoresEvents;
}

/** The stores in Redis, over one connection for commands and one for notifications; `sessions.close` closes both. */
export type RedisStores = ReturnType<typeof openRedisStores>;

/** Opens the stores in Redis; they connect in the background and are unavailable until then. */
export function openRedisStores(options: RedisStoresOptions) {
  const { access, events } = options;
  const keys = createKeys(options.tenant);
  const link = new RedisLink({ ...options, keys, open: () => openCommandClient(access) });
  const sessions = createRedisSessions({
    ...options,
    link,
    listen: (onEnded) =>
      new SessionEnds({
        open: () => openSubscriptionClient(access, link.client),
        channel: keys.sessionEnds,
        onEnded,
        onNotificationsLost: events.onNotificationsLost,
      }),
  });
  const serverClock: ServerClock = {
    store: 'sessions',
    compare: (now) => compareRedisClocks(link, now),
  };
  return {
    sessions,
    attempts: createRedisAttempts(link),
    singleUse: createRedisSingleUse(link),
    serverClock,
  };
}
