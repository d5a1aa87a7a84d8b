import type { ListPage } from '../list-query.ts';
import type { SessionQuery } from '../session-query.ts';
import type { Session } from '../sessions.ts';
import type { Keys, ListedSessions } from './keys.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';
import {
  countFrom,
  pageFrom,
  parsed,
  type RankedPage,
  sessionFrom,
  sessionIdsFrom,
  textsFrom,
} from './session-fields.ts';

/** For how long a session that has ended can't be listed again, ms: longer than any step takes that could list it. */
const unlistedForMs = 60_000;
/** How many expired sessions are taken off the lists at a time. */
const pruneBatch = 100;
/** How often a page is read again because some of its sessions had ended. */
const maxReads = 8;

/** What the lists need to know of a session. */
type Listed = Pick<Session, 'id' | 'userId' | 'method'>;

/**
 * The live sessions in order: all, and those of each user and method. A session is listed right after its creation, again
 * at each use, and until its end; an entry too many does no harm, because a page shows only sessions that exist.
 */
export class SessionList {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Lists the session by its present fields; gives how many its user has. */
  async add(session: Session): Promise<number> {
    const { id, created, lastUsed, expires, userId, method } = session;
    const args = [id, created, lastUsed, expires, `${method} ${userId}`];
    const [, , ofUser] = await this.#link.run(scripts.list, this.#keysOf(session), args);
    return parsed(() => countFrom(ofUser));
  }

  /** Takes the session off the lists; gives how many its user has left. */
  async remove(session: Listed): Promise<number> {
    const keys = this.#keysOf(session);
    const [, , ofUser] = await this.#link.run(scripts.unlist, keys, [session.id, unlistedForMs]);
    return parsed(() => countFrom(ofUser));
  }

  /**
   * The ids of a user's sessions beyond the `max` that were used last: up to `size` of those used longest ago. A user who
   * has `max` at that moment has none too many.
   */
  async excessOf(userId: string, max: number, size: number): Promise<readonly string[]> {
    const key = this.#keys.sessionList('last_used', { userId });
    const total = await this.#link.read((client) => client.zcard(key), countFrom);
    // Counted from the end, unless that would be a long list.
    const stop = total - max > size ? size - 1 : -(max + 1);
    return this.#link.read((client) => client.zrange(key, '0', String(stop)), sessionIdsFrom);
  }

  /** The ids of the sessions that were created first. */
  oldest(size: number): Promise<readonly string[]> {
    const key = this.#keys.sessionList('created', {});
    return this.#link.read((client) => client.zrange(key, '0', String(size - 1)), sessionIdsFrom);
  }

  /** How many sessions are alive. */
  count(): Promise<number> {
    const { clock } = this.#link;
    return this.#link.read(
      (client) => client.zcount(this.#keys.listedExpiries, `(${clock.now()}`, '+inf'),
      countFrom,
    );
  }

  /** As {@link ../sessions.ts Sessions.list}. */
  async page(query: SessionQuery): Promise<ListPage<Session>> {
    await this.prune();
    for (let reads = 1; ; reads += 1) {
      const page = await this.#read(query);
      const found = await this.find(page.entries.map(({ id }) => id));
      const gone = page.entries.filter(({ id }) => !found.has(id));
      if (gone.length === 0 || reads === maxReads) return pageOf(query, page, found);
      await this.removeMissing(gone.map(({ id }) => id));
    }
  }

  /** Takes expired sessions off the lists, a few at a time; gives how many. */
  async prune(): Promise<number> {
    let pruned = 0;
    for (;;) {
      const ids = await this.#expired();
      if (ids.length === 0) return pruned;
      const found = await this.find(ids);
      const gone = ids.filter((id) => !found.has(id));
      await this.removeMissing(gone);
      // These still exist: the step that would have listed their last use was lost.
      await Promise.all([...found.values()].map((session) => this.add(session)));
      pruned += gone.length;
      if (gone.length === 0 || ids.length < pruneBatch) return pruned;
    }
  }

  /**
   * Those sessions that may be alive, which is all that haven't certainly expired: what is taken off the lists never
   * returns to them.
   */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Session>> {
    const { clock } = this.#link;
    const found = await Promise.all(ids.map((id) => this.#find(id)));
    const alive = found.filter((session) => session !== undefined && session.expires > clock.earliest());
    return new Map(alive.map((session) => [(session as Session).id, session as Session]));
  }

  #find(id: string): Promise<Session | undefined> {
    return this.#link.read(
      (client) => client.call('HGETALL', this.#keys.session(id)),
      (fields) => sessionFrom(id, fields),
    );
  }

  #expired(): Promise<readonly string[]> {
    const until = String(this.#link.clock.earliest());
    const size = String(pruneBatch);
    return this.#link.read(
      (client) =>
        client.call('ZRANGE', this.#keys.listedExpiries, '-inf', until, 'BYSCORE', 'LIMIT', '0', size),
      sessionIdsFrom,
    );
  }

  async #read(query: SessionQuery): Promise<RankedPage> {
    const { filters, from, inclusive = false, size } = query;
    const { gte = '', gt = '', lte = '', lt = '' } = filters.range ?? {};
    const key = this.#keys.sessionList(query.sortBy, filters);
    const position = from === undefined ? ['', '', ''] : [String(from.value), from.id, inclusive ? '1' : '0'];
    const args = [gte, gt, lte, lt, isAscending(query) ? 'up' : 'down', ...position, size];
    const [, , ...page] = await this.#link.run(scripts.listPage, key, args);
    return parsed(() => pageFrom(page));
  }

  /** Takes sessions that no longer exist off the lists. */
  async removeMissing(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const listedIn = await this.#link.read(
      (client) => client.hmget(this.#keys.listedIn, ...ids),
      (values) => textsFrom(values, ids.length),
    );
    await Promise.all(ids.map((id, index) => this.remove({ id, ...whereabouts(listedIn[index] ?? null) })));
  }

  #keysOf({ id, userId, method }: Listed): string[] {
    const keys = this.#keys;
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

/** Whether the page is read towards later instants; the items of one that is read backwards are reversed. */
function isAscending({ sortOrder, backwards = false }: SessionQuery): boolean {
  return (sortOrder === 'asc') !== backwards;
}

function pageOf(
  { sortBy, sortOrder }: SessionQuery,
  { total, lower, higher, entries }: RankedPage,
  found: ReadonlyMap<string, Session>,
): ListPage<Session> {
  const items = entries.flatMap(({ id, instant }) => {
    const session = found.get(id);
    if (session === undefined) return [];
    // It may have been used since the list was read: its position is that in the list.
    return [sortBy === 'last_used' ? { ...session, lastUsed: instant } : session];
  });
  if (sortOrder === 'asc') return { items, total, before: lower > 0, after: higher > 0 };
  return { items: items.reverse(), total, before: higher > 0, after: lower > 0 };
}

function whereabouts(listedIn: string | null): { readonly method: string; readonly userId: string } {
  const [method, ...userId] = (listedIn ?? '').split(' ');
  return { method: method ?? '', userId: userId.join(' ') };
}
