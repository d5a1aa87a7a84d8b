import type { Attempts } from '../attempts.ts';
import type { AvailabilityEvents } from '../remote/availability.ts';
import type { ServerClock } from '../remote/server-clock.ts';
import type { Sessions } from '../sessions.ts';
import type { SingleUse } from '../single-use.ts';
import { createRedisAttempts } from './attempts.ts';
import { openCommandClient, openSubscriptionClient, type RedisAccess } from './clients.ts';
import { createKeys } from './keys.ts';
import { RedisLink } from './link.ts';
import { compareRedisClocks } from './server-clocks.ts';
import { SessionEnds } from './session-ends.ts';
import { createRedisSessions } from './sessions.ts';
import { createRedisSingleUse } from './single-use.ts';

export interface RedisStoresEvents extends AvailabilityEvents {
  /** Redis doesn't let this process subscribe to ended sessions, for that reason: it has to query far more often. */
  onNotificationsLost(reason: string): void;
}

export interface RedisStoresOptions {
  readonly access: RedisAccess;
  readonly tenant: string;
  readonly commandTimeoutMs: number;
  /** As in {@link ./liveness.ts LivenessOptions}; 0: every request queries. */
  readonly livenessAgeMs: number;
  /** Time for which a session seen alive counts while Redis is unavailable, ms; a reload may change it. */
  readonly staleIfErrorMs: () => number;
  /** A clock to use instead of Redis' own, epoch ms: for tests. */
  readonly testClock?: (() => number) | undefined;
  /** As in {@link ./link.ts LinkOptions}. */
  readonly testElapsed?: (() => number) | undefined;
  readonly events: RedisStoresEvents;
}

/** The stores in Redis, over one connection for commands and one for notifications; `sessions.close` closes both. */
export interface RedisStores {
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly singleUse: SingleUse;
  readonly serverClock: ServerClock;
}

/** Opens the stores in Redis; they connect in the background and are unavailable until then. */
export function openRedisStores(options: RedisStoresOptions): RedisStores {
  const { access, commandTimeoutMs, livenessAgeMs, staleIfErrorMs, events } = options;
  const keys = createKeys(options.tenant);
  const link = new RedisLink({
    keys,
    open: () => openCommandClient(access),
    commandTimeoutMs,
    testClock: options.testClock,
    testElapsed: options.testElapsed,
    events,
  });
  const sessions = createRedisSessions({
    link,
    livenessAgeMs,
    staleIfErrorMs,
    listen: (onEnded) =>
      new SessionEnds({
        open: () => openSubscriptionClient(access, link.client),
        channel: keys.sessionEnds,
        onEnded,
        onNotificationsLost: events.onNotificationsLost,
      }),
  });
  return {
    sessions,
    attempts: createRedisAttempts(link),
    singleUse: createRedisSingleUse(link),
    serverClock: { store: 'sessions', compare: (now) => compareRedisClocks(link, now) },
  };
}
