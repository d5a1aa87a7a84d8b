import { Refusal } from '../../errors.ts';
import type { ListPage } from '../list-query.ts';
import type { Session, SessionQuery } from '../sessions.ts';
import type { ListedSessions } from './keys.ts';
import type { RedisLink } from './link.ts';
import { type Script, scripts } from './scripts.ts';
import {
  countFrom,
  pageFrom,
  parsed,
  type RankedPage,
  sessionFrom,
  sessionIdsFrom,
  textsFrom,
} from './session-fields.ts';

/** Time for which a session that has ended can't be listed again, ms: no step that could still list it takes as long. */
const unlistedForMs = 60_000;
/** Maximum number of sessions remembered that could not be marked, because a node was unavailable. */
const maxUnchecked = 1_000;
/** Maximum number of attempts to read a page on which no session has ended. */
const maxReads = 8;

/** Fields of a session that decide which lists it is on. */
type Listed = Pick<Session, 'id' | 'userId' | 'method'>;

/**
 * Sorted lists of the live sessions: of all, by user, by method, and by user and method. A session is listed right after its
 * creation, moved at each use, and taken off after its end. Ending it and taking it off are two steps, as the keys may be on two
 * servers; so it is first marked to be checked. Marked and expired sessions are checked before anything is counted or listed.
 */
export class SessionList {
  readonly #link: RedisLink;
  /** Ids of sessions that could not be marked. */
  readonly #unchecked = new Set<string>();

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Lists the session by its present fields; resolves to the number of its user's sessions, 0 if it has just ended. */
  async add(session: Listed & Pick<Session, 'created' | 'lastUsed' | 'expires'>): Promise<number> {
    const { id, created, lastUsed, expires, userId, method } = session;
    const args = [id, created, lastUsed, expires, `${method} ${userId}`];
    const [, , ofUser] = await this.#link.run(scripts.list, this.#keysOf(session), args);
    return parsed(() => countFrom(ofUser));
  }

  /** Takes the session off the lists; resolves to the remaining number of its user's sessions. */
  async remove(session: Listed): Promise<number> {
    const keys = this.#keysOf(session);
    const [, , ofUser] = await this.#link.run(scripts.unlist, keys, [session.id, unlistedForMs]);
    return parsed(() => countFrom(ofUser));
  }

  /**
   * Marks sessions to be checked before anything is counted or listed. Never rejects: those that can't be marked now are marked
   * at that time.
   */
  async check(ids: readonly string[]): Promise<void> {
    try {
      await this.#mark(ids);
    } catch {
      for (const id of ids) if (this.#unchecked.size < maxUnchecked) this.#unchecked.add(id);
    }
  }

  /**
   * The ids of a user's sessions in excess of `max`: those used longest ago, usually at most `size`. None if the user has no more
   * than `max` when they are read.
   */
  async excessOf(userId: string, max: number, size: number): Promise<readonly string[]> {
    const key = this.#link.keys.sessionList('last_used', { userId });
    const total = await this.#link.read((client) => client.zcard(key), countFrom);
    // Counted from the end, unless that would be a long list.
    const stop = total - max > size ? size - 1 : -(max + 1);
    return this.#link.read((client) => client.zrange(key, '0', String(stop)), sessionIdsFrom);
  }

  /** The ids of the sessions that were created first. */
  oldest(size: number): Promise<readonly string[]> {
    const key = this.#link.keys.sessionList('created', {});
    return this.#link.read((client) => client.zrange(key, '0', String(size - 1)), sessionIdsFrom);
  }

  /** Counts the live sessions, once those that have ended are off the lists. */
  async count(): Promise<number> {
    const [, , count] = await this.#runOnLive(scripts.count, [], []);
    return parsed(() => countFrom(count));
  }

  /** As {@link ../sessions.ts Sessions.list}. */
  async page(query: SessionQuery): Promise<ListPage<Session>> {
    for (let reads = 1; ; reads += 1) {
      const page = await this.#read(query);
      const found = await this.#find(
        page.entries.map(({ id }) => id),
        page.now,
      );
      const gone = page.entries.filter(({ id }) => !found.has(id));
      if (gone.length === 0 || reads === maxReads) return pageOf(query, page, found);
      await this.removeMissing(gone.map(({ id }) => id));
    }
  }

  /** Runs a script that counts or lists, once the lists hold live sessions alone. */
  async #runOnLive(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly unknown[]> {
    await this.#markUnchecked();
    let first: string | undefined;
    for (;;) {
      const reply = await this.#link.run(script, [this.#link.keys.listedExpiries, ...keys], args);
      const [outcome, now, due] = reply;
      if (outcome !== 'due') return reply;
      const ids = parsed(() => sessionIdsFrom(due));
      // Once settled a session is off the lists or no longer due.
      if (ids[0] === undefined || ids[0] === first)
        throw new Refusal('store_unavailable', { cause: 'expired sessions stay on the lists' });
      first = ids[0];
      await this.#settle(ids, now as number);
    }
  }

  /** Takes the sessions that have ended off the lists, and lists the others again by their present fields. */
  async #settle(ids: readonly string[], now: number): Promise<void> {
    const found = await this.#find(ids, now);
    await this.removeMissing(ids.filter((id) => !found.has(id)));
    // The step that would have listed their last use was lost, or the one that would have ended them.
    await Promise.all([...found.values()].map((session) => this.add(session)));
  }

  async #markUnchecked(): Promise<void> {
    if (this.#unchecked.size === 0) return;
    const ids = [...this.#unchecked];
    await this.#mark(ids);
    for (const id of ids) this.#unchecked.delete(id);
  }

  async #mark(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#link.run(scripts.check, this.#link.keys.listedExpiries, ids);
  }

  /** Finds the sessions that are alive at `now`, epoch ms by the clock of the lists. */
  async #find(ids: readonly string[], now: number): Promise<ReadonlyMap<string, Session>> {
    const found = await Promise.all(ids.map((id) => findSession(this.#link, id)));
    const alive = found.filter((session) => session !== undefined).filter(({ expires }) => expires > now);
    return new Map(alive.map((session) => [session.id, session]));
  }

  async #read(query: SessionQuery): Promise<RankedPage> {
    const { filters, from, inclusive = false, size, sortOrder, backwards = false } = query;
    const { gte = '', gt = '', lte = '', lt = '' } = filters.range ?? {};
    const key = this.#link.keys.sessionList(query.sortBy, filters);
    const position = from === undefined ? ['', '', ''] : [String(from.value), from.id, inclusive ? '1' : '0'];
    // The direction to read in from the position: the entries of the page are ascending either way.
    const direction = (sortOrder === 'asc') !== backwards ? 'up' : 'down';
    const args = [gte, gt, lte, lt, direction, ...position, size];
    const [, now, ...page] = await this.#runOnLive(scripts.listPage, [key], args);
    return parsed(() => pageFrom(page, now as number));
  }

  /** Takes sessions that no longer exist off the lists. */
  async removeMissing(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const listedIn = await this.#link.read(
      (client) => client.hmget(this.#link.keys.listedIn, ...ids),
      (values) => textsFrom(values, ids.length),
    );
    await Promise.all(ids.map((id, index) => this.remove({ id, ...whereabouts(listedIn[index] ?? null) })));
  }

  #keysOf({ id, userId, method }: Listed): string[] {
    const keys = this.#link.keys;
    const lists: readonly ListedSessions[] = [{}, { method }, { userId }, { userId, method }];
    return [
      keys.listedIn,
      keys.unlisted(id),
      keys.listedExpiries,
      ...lists.map((which) => keys.sessionList('created', which)),
      ...lists.map((which) => keys.sessionList('last_used', which)),
    ];
  }
}

/** Finds a session, which may have expired. Rejects `store_unavailable`. */
export function findSession(link: RedisLink, id: string): Promise<Session | undefined> {
  return link.read(
    (client) => client.call('HGETALL', link.keys.session(id)),
    (fields) => sessionFrom(id, fields),
  );
}

function pageOf(
  { sortBy, sortOrder }: SessionQuery,
  { total, lower, higher, entries }: RankedPage,
  found: ReadonlyMap<string, Session>,
): ListPage<Session> {
  const items = entries.flatMap(({ id, instant }) => {
    const session = found.get(id);
    if (session === undefined) return [];
    // The session may have been used since the list was read: the item has the instant by which it is listed.
    return [sortBy === 'last_used' ? { ...session, lastUsed: instant } : session];
  });
  if (sortOrder === 'asc') return { items, total, before: lower > 0, after: higher > 0 };
  return { items: items.reverse(), total, before: higher > 0, after: lower > 0 };
}

function whereabouts(listedIn: string | null): { readonly method: string; readonly userId: string } {
  const [method, ...userId] = (listedIn ?? '').split(' ');
  return { method: method ?? '', userId: userId.join(' ') };
}
