import { Refusal } from '../../errors.ts';
import type {
  EndedListener,
  LiveSession,
  NewSession,
  Presentation,
  Session,
  Sessions,
  SessionTimes,
} from '../sessions.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { LiveMemory } from './live-memory.ts';
import { startRechecks } from './rechecks.ts';
import { scripts } from './scripts.ts';
import type { SessionEnds } from './session-ends.ts';
import { fieldsOf, liveSessionFrom, sessionFrom, sessionIdsFrom, wholeNumber } from './session-fields.ts';

export interface RedisSessionsOptions {
  readonly link: RedisLink;
  readonly keys: Keys;
  /** How long a session seen alive needs no new look while endings are heard, ms. */
  readonly livenessAgeMs: number;
  /** How long one seen alive counts while the store is away, ms. */
  readonly staleIfErrorMs: number;
  /** Starts to listen for endings on a connection of its own. */
  readonly listen: (onEnded: (id: string, endedAt: number) => void) => SessionEnds;
}

/** How much longer than its session a user's index knows it at most, ms: clocks move while it is being noted. */
const indexSlackMs = 60_000;
/** How many sessions are ended at a time. */
const endBatch = 100;

/** The session store in Redis: every step a script on one key, liveness remembered and corrected by what is told. */
export function createRedisSessions(options: RedisSessionsOptions): Sessions {
  const { link, keys, staleIfErrorMs } = options;
  const { clock } = link;
  const memory = new LiveMemory(options.livenessAgeMs);
  const listeners: EndedListener[] = [];
  const loads = new Map<string, Promise<LiveSession | undefined>>();
  const sessionEnds = options.listen((id, endedAt) => {
    memory.end(id);
    const afterMs = Math.max(0, clock.now() - endedAt);
    for (const listener of listeners) listener(id, afterMs);
  });
  const rechecks = startRechecks(options, memory);

  /** Responses that make no sense are the store's failure, not ours. */
  function read<T>(parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      throw error instanceof TypeError ? new Refusal('store_unavailable', { cause: error.message }) : error;
    }
  }

  /** Notes the session in its user's index until after its end; gives until when, epoch ms. */
  async function note(id: string, userId: string, { idleLifetimeMs, absoluteLifetimeMs }: SessionTimes) {
    // Twice the idle lifetime, so that it has to be done again once an idle lifetime and not at every use.
    const forMs = Math.min(2 * idleLifetimeMs, absoluteLifetimeMs) + indexSlackMs;
    const [, , until] = await link.run(scripts.index, keys.userSessions(userId), [id, forMs]);
    return read(() => wholeNumber(String(until), 'index'));
  }

  /** The index is only a list of where to look: an entry too many does no harm, and goes by itself. */
  function unnote(userId: string, ids: readonly string[]): void {
    for (let start = 0; start < ids.length; start += endBatch) {
      const some = ids.slice(start, start + endBatch);
      link.read((client) => client.zrem(keys.userSessions(userId), ...some)).catch(() => {});
    }
  }

  async function create(session: NewSession, times: SessionTimes) {
    const { idleLifetimeMs, absoluteLifetimeMs } = times;
    const until = await note(session.id, session.userId, times);
    const sentAt = performance.now();
    const args = [idleLifetimeMs, absoluteLifetimeMs, until, ...fieldsOf(session)];
    const [, created, expires] = await link.run(scripts.create, keys.session(session.id), args);
    const now = created as number;
    const made = {
      ...session,
      created: now,
      lastUsed: now,
      expires: read(() => wholeNumber(String(expires), 'expires')),
      generation: 1,
    };
    memory.remember(liveSession(made), sentAt);
    return { session: made, now };
  }

  async function present(id: string, generation: number, times: SessionTimes): Promise<Presentation> {
    if (!Number.isSafeInteger(generation) || generation <= 0) return { outcome: 'gone' };
    const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs } = times;
    let until = 0;
    for (;;) {
      const sentAt = performance.now();
      const args = [
        generation,
        idleLifetimeMs,
        absoluteLifetimeMs,
        reuseGraceMs,
        until,
        keys.sessionEnds,
        id,
      ];
      const [outcome, , fields, rotated] = await link.run(scripts.present, keys.session(id), args);
      if (outcome === 'reindex' && until === 0) {
        until = await note(id, String(fields), times);
        continue;
      }
      if (outcome === 'gone') {
        memory.forget(id);
        return { outcome };
      }
      const session = read(() => sessionFrom(id, fields));
      if (session === undefined) throw new Refusal('store_unavailable', { cause: 'no session' });
      if (outcome === 'reused') {
        memory.end(id);
        unnote(session.userId, [id]);
        return { outcome, session };
      }
      memory.remember(liveSession(session), sentAt);
      return { outcome: 'current', session, rotated: rotated === 1, now: session.lastUsed };
    }
  }

  /** Asks the store, once for all who want to know at the same time. */
  function load(id: string): Promise<LiveSession | undefined> {
    const underway = loads.get(id);
    if (underway !== undefined) return underway;
    const asked = ask(id).finally(() => loads.delete(id));
    loads.set(id, asked);
    return asked;
  }

  async function ask(id: string): Promise<LiveSession | undefined> {
    const sentAt = performance.now();
    let session: LiveSession | undefined;
    try {
      session = await link.read(
        (client) => client.hmget(keys.session(id), 'userId', 'expires'),
        (fields) => liveSessionFrom(id, fields),
      );
    } catch (error) {
      return seenBefore(id, error);
    }
    if (memory.hasEnded(id)) return undefined;
    if (session === undefined || session.expires <= clock.now()) {
      memory.vanish(id, performance.now(), clock.now());
      return undefined;
    }
    memory.remember(session, sentAt);
    return session;
  }

  /** While the store is away, who was seen alive a short while ago goes on. */
  function seenBefore(id: string, error: unknown): LiveSession {
    const session = memory.aliveWithin(id, staleIfErrorMs, performance.now(), sessionEnds.subscription);
    if (session === undefined || session.expires <= clock.now()) throw error;
    return session;
  }

  async function revoke(id: string): Promise<Session | undefined> {
    const [, now, fields] = await link
      .run(scripts.revoke, keys.session(id), [keys.sessionEnds, id])
      .catch((error) => {
        // It may have ended all the same. While the store is away it hasn't for us: a failure changes nothing.
        memory.doubt([id]);
        throw error;
      });
    memory.end(id);
    const session = read(() => sessionFrom(id, fields));
    if (session === undefined) return undefined;
    unnote(session.userId, [id]);
    return session.expires > (now as number) ? session : undefined;
  }

  async function revokeAllOf(userId: string, exceptId?: string): Promise<readonly string[]> {
    const known = await link.read(
      (client) => client.zrange(keys.userSessions(userId), '0', '-1'),
      sessionIdsFrom,
    );
    const ids = known.filter((id) => id !== exceptId);
    const ended: string[] = [];
    for (let start = 0; start < ids.length; start += endBatch) {
      const batch = await Promise.allSettled(ids.slice(start, start + endBatch).map(revoke));
      for (const one of batch) {
        if (one.status === 'rejected') throw one.reason;
        if (one.value !== undefined) ended.push(one.value.id);
      }
    }
    unnote(userId, ids);
    return ended;
  }

  return {
    create,
    present,
    findLive(id) {
      if (memory.hasEnded(id)) return undefined;
      const session = memory.trusted(id, performance.now(), sessionEnds.subscription);
      if (session !== undefined && session.expires > clock.now()) return session;
      return link.isDown ? seenBefore(id, new Refusal('store_unavailable')) : load(id);
    },
    async find(id) {
      const session = await link.read(
        (client) => client.call('HGETALL', keys.session(id)),
        (fields) => sessionFrom(id, fields),
      );
      return session !== undefined && session.expires > clock.now() ? session : undefined;
    },
    revoke,
    revokeAllOf,
    onEnded: (listener) => void listeners.push(listener),
    // Redis does it by itself.
    prune: async () => 0,
    ping: async () => void (await link.read((client) => client.time())),
    async close() {
      if (rechecks !== null) clearInterval(rechecks);
      sessionEnds.close();
      await link.close();
    },
  };
}

function liveSession({ id, userId, expires }: Session): LiveSession {
  return { id, userId, expires };
}
