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
import {
  fieldsOf,
  indexedFrom,
  parsed,
  sessionFrom,
  usedSessionFrom,
  wholeNumber,
} from './session-fields.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionList } from './session-list.ts';

/** Number of sessions ended, and of uses recorded, at a time. */
const batchSize = 100;

/** The methods of {@link Sessions} that change sessions, each by a script on the session's key. */
export class SessionWrites
  implements Pick<Sessions, 'create' | 'present' | 'noteUse' | 'revoke' | 'revokeAllOf' | 'revokeAll'>
{
  readonly #link: RedisLink;
  readonly #liveness: Liveness;
  readonly #index: SessionIndex;
  readonly #list: SessionList;

  constructor(link: RedisLink, liveness: Liveness, index: SessionIndex, list: SessionList) {
    this.#link = link;
    this.#liveness = liveness;
    this.#index = index;
    this.#list = list;
  }

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
      sealedClaims: session.sealedClaims ?? null,
    };
    // Listed only once it exists: until then a page that lists it would take it for ended.
    const ofUser = await this.#list.add(created);
    this.#liveness.set(liveSession(created), sentAt);
    const isExcess = maxPerUser !== undefined && ofUser > maxPerUser;
    return { session: created, now, ended: isExcess ? await this.#endExcess(created, maxPerUser) : [] };
  }

  /** Ends the sessions beyond `max` of the user of `created`: those used longest ago, but never `created` itself. */
  async #endExcess(created: Session, max: number): Promise<readonly Session[]> {
    // Takes sessions that have ended off the lists, or they would count.
    await this.#list.count();
    const ended: Session[] = [];
    for (;;) {
      const excess = await this.#list.excessOf(created.userId, max, batchSize);
      const ids = excess.filter((id) => id !== created.id);
      if (ids.length === 0) return ended;
      ended.push(...(await this.#revokeEach(ids)));
      await this.#list.removeMissing(ids);
    }
  }

  async present(id: string, generation: number, times: SessionTimes): Promise<Presentation> {
    if (!Number.isSafeInteger(generation) || generation <= 0) return { outcome: 'gone' };
    const { keys, clock } = this.#link;
    const lifetimes = [times.idleLifetimeMs, times.absoluteLifetimeMs, times.reuseGraceMs];
    let indexedUntil = 0;
    for (;;) {
      const sentAt = performance.now();
      const unbroken = clock.unbroken();
      const args = [generation, ...lifetimes, indexedUntil, keys.sessionEnds, id, unbroken, clockToleranceMs];
      const reply = await this.#link.run(scripts.present, keys.session(id), args);
      if (reply[0] !== 'reindex' || indexedUntil !== 0) return this.#presentation(id, reply, sentAt);
      indexedUntil = await this.#indexAgain(id, reply, times);
    }
  }

  #indexAgain(id: string, [, , fields]: readonly unknown[], times: SessionTimes): Promise<number> {
    const session = parsed(() => indexedFrom(fields));
    return this.#index.add(id, session, times);
  }

  #presentation(id: string, reply: readonly unknown[], sentAt: number): Presentation {
    const [outcome, , fields, rotated] = reply;
    if (outcome === 'gone') {
      this.#liveness.delete(id);
      // In the background. The session may still be listed: a shorter lifetime can have ended it.
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

  async noteUse(uses: ReadonlyMap<string, number>, times: SessionTimes): Promise<void> {
    const all = [...uses];
    for (let start = 0; start < all.length; start += batchSize) {
      const batch = all.slice(start, start + batchSize);
      const noted = await Promise.allSettled(batch.map(([id, instant]) => this.#noteOne(id, instant, times)));
      for (const result of noted) if (result.status === 'rejected') throw result.reason;
    }
  }

  async #noteOne(id: string, instant: number, times: SessionTimes): Promise<void> {
    let indexedUntil = 0;
    for (;;) {
      const args = [instant, times.idleLifetimeMs, times.absoluteLifetimeMs, indexedUntil];
      const reply = await this.#link.run(scripts.noteUse, this.#link.keys.session(id), args);
      const [outcome, now, fields] = reply;
      if (outcome === 'unchanged') return;
      if (outcome === 'used') {
        const session = parsed(() => usedSessionFrom(id, fields));
        // A shorter lifetime configured in the meantime may have ended it just now.
        if (session.expires <= (now as number)) this.#liveness.delete(id);
        // Moves the session on the lists; if that fails, it is moved before anything is counted or listed.
        await this.#list.add(session).catch(() => this.#list.check([id]));
        return;
      }
      indexedUntil = await this.#indexAgain(id, reply, times);
    }
  }

  async revoke(id: string): Promise<Session | undefined> {
    // The mark is sent first, so that the session isn't counted once it has ended, even if this process ends in between.
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

  async revokeAllOf(userId: string, exceptId?: string): Promise<readonly string[]> {
    const ids = (await this.#index.idsOf(userId)).filter((id) => id !== exceptId);
    const ended: string[] = [];
    for (let start = 0; start < ids.length; start += batchSize)
      ended.push(...idsOf(await this.#revokeEach(ids.slice(start, start + batchSize))));
    this.#index.removeOfUser(userId, ids);
    return ended;
  }

  async revokeAll(): Promise<readonly string[]> {
    const ended: string[] = [];
    let first: string | undefined;
    for (;;) {
      const ids = await this.#list.oldest(batchSize);
      if (ids.length === 0) return ended;
      if (ids[0] === first) throw new Refusal('store_unavailable', { cause: 'ended sessions stay listed' });
      first = ids[0];
      ended.push(...idsOf(await this.#revokeEach(ids)));
      // Removed before the next batch is read: otherwise it would again have the ids of sessions that no longer exist, or whose
      // removal is still under way.
      await this.#list.removeMissing(ids);
    }
  }

  /** Ends these sessions in parallel; resolves to those that were alive. */
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

  /** Takes a session off the lists in the background; if that fails, it stays there until it is checked. */
  #unlist(session: Session): void {
    this.#list.remove(session).catch(() => {});
  }
}

function idsOf(sessions: readonly Session[]): readonly string[] {
  return sessions.map(({ id }) => id);
}

function liveSession(session: Session): LiveSession {
  const { id, userId, expires, epoch, scope, sealedClaims } = session;
  const isRestricted = scope !== null;
  return { id, userId, expires, epoch, isRestricted, origin: originOf(session), sealedClaims };
}
