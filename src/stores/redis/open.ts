import { Cluster } from 'ioredis';
import type { AvailabilityEvents } from '../remote/availability.ts';
import { type ClockReading, compareClock, type ServerClock } from '../remote/server-clock.ts';
import type { EndedListener, Sessions } from '../sessions.ts';
import { createRedisAttempts } from './attempts.ts';
import { openCommandClient, openSubscriptionClient, type RedisAccess } from './clients.ts';
import { timeOf } from './connection.ts';
import { createKeys } from './keys.ts';
import { type LinkOptions, RedisLink } from './link.ts';
import { Liveness, type LivenessOptions } from './liveness.ts';
import { SessionEnds } from './session-ends.ts';
import { SessionIndex } from './session-index.ts';
import { findSession, SessionList } from './session-list.ts';
import { SessionWrites } from './session-writes.ts';
import { createRedisSingleUse } from './single-use.ts';

export interface RedisStoresOptions
  extends Pick<LinkOptions, 'commandTimeoutMs' | 'testClock' | 'testElapsed'>,
    Pick<LivenessOptions, 'livenessAgeMs' | 'staleIfErrorMs'> {
  readonly access: RedisAccess;
  readonly tenant: string;
  readonly events: AvailabilityEvents & {
    /** Called with the reason why this process can't subscribe to ends of sessions, and has to query far more often. */
    onNotificationsLost(reason: string): void;
  };
}

/** The stores in Redis, over one connection for commands and one for notifications; `sessions.close` closes both. */
export type RedisStores = ReturnType<typeof openRedisStores>;

/** Opens the stores in Redis, which connect in the background and are unavailable until they are connected. */
export function openRedisStores(options: RedisStoresOptions) {
  const keys = createKeys(options.tenant);
  const link = new RedisLink({ ...options, keys, open: () => openCommandClient(options.access) });
  const serverClock: ServerClock = { store: 'sessions', compare: (now) => compareClocks(link, now) };
  return {
    sessions: createSessions(link, options),
    attempts: createRedisAttempts(link),
    singleUse: createRedisSingleUse(link),
    serverClock,
  };
}

/** Creates the session store: every step is a script on one key, and liveness is cached, and corrected by notifications. */
function createSessions(link: RedisLink, options: RedisStoresOptions): Sessions {
  const { clock } = link;
  const listeners: EndedListener[] = [];
  const sessionEnds = new SessionEnds({
    open: () => openSubscriptionClient(options.access, link.client),
    channel: link.keys.sessionEnds,
    onEnded(id, endedAt) {
      liveness.end(id);
      const afterMs = Math.max(0, clock.now() - endedAt);
      for (const listener of listeners) listener(id, afterMs);
    },
    onNotificationsLost: options.events.onNotificationsLost,
  });
  const liveness = new Liveness({ ...options, link, notifications: sessionEnds });
  const index = new SessionIndex(link);
  const list = new SessionList(link);
  const writes = new SessionWrites(link, liveness, index, list);

  return {
    create: (session, times, maxPerUser) => writes.create(session, times, maxPerUser),
    present: (id, generation, times) => writes.present(id, generation, times),
    findLive: (id) => liveness.find(id),
    async find(id) {
      const session = await findSession(link, id);
      return session !== undefined && session.expires > clock.now() ? session : undefined;
    },
    idsOfProvider: (which) => index.idsOfProvider(which),
    noteUse: (noted, times) => writes.noteUse(noted, times),
    revoke: (id) => writes.revoke(id),
    list: (query) => list.page(query),
    countLive: () => list.count(),
    revokeAllOf: (userId, exceptId) => writes.revokeAllOf(userId, exceptId),
    revokeAll: () => writes.revokeAll(),
    onEnded: (listener) => void listeners.push(listener),
    // Redis deletes expired sessions by itself, but they stay on the lists until these are counted.
    async prune() {
      await list.count();
      return 0;
    },
    ping: async () => void (await link.read((client) => client.time())),
    async close() {
      liveness.close();
      sessionEnds.close();
      link.close();
    },
  };
}

/** Compares `now`, epoch ms, with the clock of Redis, or in a Cluster with those of all masters that can be reached. */
function compareClocks(link: RedisLink, now: () => number): Promise<readonly ClockReading[]> {
  return link.read(async (client) => {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const compared = await Promise.allSettled(nodes.map((node) => compareClock(now, () => timeOf(node))));
    const readings = compared.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = compared.find((one) => one.status === 'rejected');
    if (readings.length === 0 && failed !== undefined) throw failed.reason;
    return readings;
  });
}
