import { Refusal } from '../../errors.ts';
import { originOf } from '../session-origin.ts';
import type {
  CreatedSession,
  LiveSession,
  NewSession,
  Presentation,
  Session,
  Sessions,
  SessionTimes,
} from '../sessions.ts';
import { clockToleranceMs } from '../steady-clock.ts';
import type { RedisLink } from './link.ts';
import type { Liveness } from './liveness.ts';
import { scripts } from './scripts.ts';
import { fieldsOf, indexedFrom, parsed, sessionFrom, wholeNumber } from './session-fields.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionList } from './session-list.ts';

/** Number of sessions ended at a time. */
const endBatch = 100;

/** Parts that are kept in step with the sessions. */
export interface SessionParts {
  readonly liveness: Liveness;
  readonly index: SessionIndex;
  readonly list: SessionList;
}

/** The steps that change sessions, each a script on one key. */
export class SessionWrites
  implements Pick<Sessions, 'create' | 'present' | 'revoke' | 'revokeAllOf' | 'revokeAll'>
{
  readonly #link: RedisLink;
  readonly #liveness: Liveness;
  readonly #index: SessionIndex;
  readonly #list: SessionList;

  constructor(link: RedisLink, parts: SessionParts) {
    this.#link = link;
    this.#liveness = parts.liveness;
    this.#index = parts.index;
    this.#list = parts.list;
  }

  /** As {@link Sessions.create}. */
  async create(session: NewSession, times: SessionTimes, maxPerUser?: number): Promise<CreatedSession> {
    const { idleLifetimeMs, absoluteLifetimeMs } = times;
    const indexedUntil = await this.#index.add(session.id, session, times);
    const sentAt = performance.now();
    const args = [idleLifetimeMs, absoluteLifetimeMs, indexedUntil, ...fieldsOf(session)];
    const [, time, expires] = await this.#link.run(scripts.create, this.#link.keys.session(session.id), args);
    const now = time as number;
    const created = {
      ...session,
      created: now,
      lastUsed: now,
      expires: parsed(() => wholeNumber(String(expires), 'expires')),
      generation: 1,
      provider: session.provider ?? null,
      sealedIdToken: session.sealedIdToken ?? null,
    };
    // Listed only once it exists: until then a page that lists it would take it for ended.
    const ofUser = await this.#list.add(created);
    this.#liveness.set(liveSession(created), sentAt);
    const isExcess = maxPerUser !== undefined && ofUser > maxPerUser;
    return { session: created, now, ended: isExcess ? await this.#endExcess(created, maxPerUser) : [] };
  }

  /** Ends the user's sessions beyond that number, those used longest ago, but never `created`. */
  async #endExcess(created: Session, max: number): Promise<readonly Session[]> {
    // Or those that have ended would count.
    await this.#list.prune();
    const ended: Session[] = [];
    for (;;) {
      const excess = await this.#list.excessOf(created.userId, max, endBatch);
      const ids = excess.filter((id) => id !== created.id);
      if (ids.length === 0) return ended;
      ended.push(...(await this.#revokeEach(ids)));
      await this.#list.removeMissing(ids);
    }
  }

  /** As {@link Sessions.present}. */
  async present(id: string, generation: number, times: SessionTimes): Promise<Presentation> {
    if (!Number.isSafeInteger(generation) || generation <= 0) return { outcome: 'gone' };
    let indexedUntil = 0;
    for (;;) {
      const sentAt = performance.now();
      const reply = await this.#runPresent(id, generation, times, indexedUntil);
      const [outcome, , fields] = reply;
      if (outcome !== 'reindex' || indexedUntil !== 0) return this.#presentation(id, reply, sentAt);
      indexedUntil = await this.#index.add(
        id,
        parsed(() => indexedFrom(fields)),
        times,
      );
    }
  }

  #runPresent(
    id: string,
    generation: number,
    { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs }: SessionTimes,
    indexedUntil: number,
  ): Promise<readonly unknown[]> {
    const lifetimes = [idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs];
    const { sessionEnds } = this.#link.keys;
    const unbroken = this.#link.clock.unbroken();
    const args = [generation, ...lifetimes, indexedUntil, sessionEnds, id, unbroken, clockToleranceMs];
    return this.#link.run(scripts.present, this.#link.keys.session(id), args);
  }

  #presentation(id: string, reply: readonly unknown[], sentAt: number): Presentation {
    const [outcome, , fields, rotated] = reply;
    if (outcome === 'gone') {
      this.#liveness.delete(id);
      // In the background, as it may still be listed: a shorter lifetime can have ended it.
      void this.#list.check([id]);
      return { outcome };
    }
    const session = parsed(() => sessionFrom(id, fields));
    if (session === undefined) throw new Refusal('store_unavailable', { cause: 'reply without a session' });
    if (outcome === 'reused') {
      this.#liveness.end(id);
      this.#index.remove(id, session);
      this.#unlist(session);
      return { outcome, session };
    }
    this.#liveness.set(liveSession(session), sentAt);
    // In the background: the list may lag a little, and the client waits only for the cookie.
    this.#list.add(session).catch(() => {});
    return { outcome: 'current', session, rotated: rotated === 1, now: session.lastUsed };
  }

  /** As {@link Sessions.revoke}. */
  async revoke(id: string): Promise<Session | undefined> {
    // Sent first, so that a session that has ended is not counted, even if this process ends now.
    const isMarked = this.#list.check([id]);
    const ended = await this.#revokeMarked(id);
    await isMarked;
    return ended;
  }

  async #revokeMarked(id: string): Promise<Session | undefined> {
    const [, now, fields] = await this.#link
      .run(scripts.revoke, this.#link.keys.session(id), [this.#link.keys.sessionEnds, id])
      .catch((error) => {
        // The session may have ended nonetheless; as long as that can't be checked we treat it as alive, because a
        // failure changes nothing.
        this.#liveness.doubt(id);
        throw error;
      });
    this.#liveness.end(id);
    const session = parsed(() => sessionFrom(id, fields));
    if (session === undefined) return undefined;
    this.#index.remove(id, session);
    this.#unlist(session);
    return session.expires > (now as number) ? session : undefined;
  }

  /** As {@link Sessions.revokeAllOf}. */
  async revokeAllOf(userId: string, exceptId?: string): Promise<readonly string[]> {
    const ids = (await this.#index.idsOf(userId)).filter((id) => id !== exceptId);
    const ended: string[] = [];
    for (let start = 0; start < ids.length; start += endBatch)
      ended.push(...idsOf(await this.#revokeEach(ids.slice(start, start + endBatch))));
    this.#index.removeOfUser(userId, ids);
    return ended;
  }

  /** As {@link Sessions.revokeAll}. */
  async revokeAll(): Promise<readonly string[]> {
    const ended: string[] = [];
    let first: string | undefined;
    for (;;) {
      const ids = await this.#list.oldest(endBatch);
      if (ids.length === 0) return ended;
      if (ids[0] === first) throw new Refusal('store_unavailable', { cause: 'ended sessions stay listed' });
      first = ids[0];
      ended.push(...idsOf(await this.#revokeEach(ids)));
      // Before the next batch is read: ids that were listed but no longer exist, and those whose removal is still under
      // way, would be read again.
      await this.#list.removeMissing(ids);
    }
  }

  /** Ends these sessions at once; resolves to the ids of those that were alive. */
  async #revokeEach(ids: readonly string[]): Promise<readonly Session[]> {
    const ended: Session[] = [];
    const areMarked = this.#list.check(ids);
    for (const result of await Promise.allSettled(ids.map((id) => this.#revokeMarked(id)))) {
      if (result.status === 'rejected') throw result.reason;
      if (result.value !== undefined) ended.push(result.value);
    }
    await areMarked;
    return ended;
  }

  /** Takes a session off the lists, in the background: it is marked to be checked. */
  #unlist(session: Session): void {
    this.#list.remove(session).catch(() => {});
  }
}

function idsOf(sessions: readonly Session[]): readonly string[] {
  return sessions.map(({ id }) => id);
}

function liveSession(session: Session): LiveSession {
  const { id, userId, expires, epoch, scope } = session;
  return { id, userId, expires, epoch, isRestricted: scope !== null, origin: originOf(session) };
}
