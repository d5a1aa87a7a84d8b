import type { EndedListener, Sessions } from '../sessions.ts';
import { Liveness, type LivenessOptions } from './liveness.ts';
import type { SessionEnds } from './session-ends.ts';
import { sessionFrom } from './session-fields.ts';
import { SessionIndex } from './session-index.ts';
import { SessionList } from './session-list.ts';
import { SessionUses } from './session-uses.ts';
import { SessionWrites } from './session-writes.ts';

export interface RedisSessionsOptions extends Omit<LivenessOptions, 'notifications'> {
  /** Subscribes to ended sessions on a connection of its own. */
  readonly listen: (onEnded: (id: string, endedAt: number) => void) => SessionEnds;
}

/** The session store in Redis: every step a script on one key, liveness cached and corrected by notifications. */
export function createRedisSessions(options: RedisSessionsOptions): Sessions {
  const { link } = options;
  const { clock } = link;
  const listeners: EndedListener[] = [];
  const sessionEnds = options.listen((id, endedAt) => {
    liveness.end(id);
    const afterMs = Math.max(0, clock.now() - endedAt);
    for (const listener of listeners) listener(id, afterMs);
  });
  const liveness = new Liveness({ ...options, notifications: sessionEnds });
  const list = new SessionList(link);
  const parts = { liveness, list, index: new SessionIndex(link) };
  const writes = new SessionWrites(link, parts);
  const uses = new SessionUses(link, parts);

  return {
    create: (session, times, maxPerUser) => writes.create(session, times, maxPerUser),
    present: (id, generation, times) => writes.present(id, generation, times),
    findLive: (id) => liveness.find(id),
    async find(id) {
      const session = await link.read(
        (client) => client.call('HGETALL', link.keys.session(id)),
        (fields) => sessionFrom(id, fields),
      );
      return session !== undefined && session.expires > clock.now() ? session : undefined;
    },
    idsOfProvider: (which) => parts.index.idsOfProvider(which),
    noteUse: (noted, times) => uses.note(noted, times),
    revoke: (id) => writes.revoke(id),
    list: (query) => list.page(query),
    countLive: () => list.count(),
    revokeAllOf: (userId, exceptId) => writes.revokeAllOf(userId, exceptId),
    revokeAll: () => writes.revokeAll(),
    onEnded: (listener) => void listeners.push(listener),
    // Redis deletes sessions by itself, but leaves them on the lists.
    async prune() {
      await list.prune();
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
