import type { z } from 'zod';
import type { Holdings } from '../../credentials/holdings.ts';
import type { Principal } from '../../credentials/principal.ts';
import { intersectScopes, parseScope } from '../../credentials/scopes.ts';
import { ValidationError, type ValidationProblem } from '../../errors.ts';
import { parseUrlEncoded } from '../../input/url-encoded.ts';
import type { FieldFilter, ListPage, ListPosition, ListQuery } from '../../stores/list-query.ts';
import type { Records } from '../../stores/records.ts';
import { admitsSession } from '../../stores/session-epoch.ts';
import { originOf } from '../../stores/session-origin.ts';
import type { SessionFilters, SessionQuery, SessionSortField } from '../../stores/session-query.ts';
import type { Session, Sessions } from '../../stores/sessions.ts';
import type { UserWithSets } from '../../stores/user.ts';
import { toTimestamp } from '../timestamp.ts';
import type { sessionRead } from './session-schemas.ts';

/** A session whose user may still use it. */
export interface OwnedSession {
  readonly session: Session;
  readonly owner: UserWithSets;
}

/** How often a page is read again because some of its sessions were no longer of any use. */
const maxReads = 4;

/** Finds the sessions that are alive according to both the session store and the records. */
export class LiveSessionFinder {
  readonly #sessions: Pick<Sessions, 'find' | 'list' | 'revoke'>;
  readonly #records: Pick<Records, 'findUser'>;

  constructor(sessions: Pick<Sessions, 'find' | 'list' | 'revoke'>, records: Pick<Records, 'findUser'>) {
    this.#sessions = sessions;
    this.#records = records;
  }

  /** Whether the session, which the store has, was alive by the records as well. */
  async isLive(session: Session): Promise<boolean> {
    return (await this.#ownerOf(session)) !== undefined;
  }

  async find(id: string): Promise<OwnedSession | undefined> {
    const session = await this.#sessions.find(id);
    if (session === undefined) return undefined;
    const owner = await this.#ownerOf(session);
    return owner && { session, owner };
  }

  /** One page. Sessions that ended with an earlier epoch of their user are removed, so that none is shown or counted. */
  async list(query: SessionQuery): Promise<ListPage<OwnedSession>> {
    for (let reads = 1; ; reads += 1) {
      const page = await this.#sessions.list(query);
      const owners = await this.#ownersOf(page.items);
      const dead = page.items.filter((session, index) => hasEnded(session, owners[index]));
      if (dead.length === 0 || reads === maxReads) return { ...page, items: admittedOf(page.items, owners) };
      await Promise.all(dead.map(({ id }) => this.#sessions.revoke(id)));
    }
  }

  async #ownersOf(sessions: readonly Session[]): Promise<readonly (UserWithSets | undefined)[]> {
    const users = new Map<string, ReturnType<Records['findUser']>>();
    for (const { userId } of sessions)
      if (!users.has(userId)) users.set(userId, this.#records.findUser(userId));
    return Promise.all(sessions.map(async ({ userId }) => users.get(userId)));
  }

  async #ownerOf(session: Session): Promise<UserWithSets | undefined> {
    return admitted(session, await this.#records.findUser(session.userId));
  }
}

function admittedOf(
  sessions: readonly Session[],
  owners: readonly (UserWithSets | undefined)[],
): readonly OwnedSession[] {
  return sessions.flatMap((session, index) => {
    const owner = admitted(session, owners[index]);
    return owner === undefined ? [] : [{ session, owner }];
  });
}

/** Whether it has ended for good. A record that is read from a cache may be older than the session: that says nothing. */
function hasEnded({ id, epoch }: Session, owner: UserWithSets | undefined): boolean {
  return owner === undefined || (epoch < owner.user.epoch && id !== owner.user.carriedSession);
}

function admitted(session: Session, found: UserWithSets | undefined): UserWithSets | undefined {
  return admitsSession(found?.user, session) ? found : undefined;
}

/** A session as `SessionRead`, to `viewer`. */
export function presentSession(
  { session, owner }: OwnedSession,
  viewer: Principal,
  { holdings, hydrate }: { readonly holdings: Holdings; readonly hydrate: boolean },
): z.input<typeof sessionRead> {
  const held = holdings.ofUser(owner, originOf(session)).scopes;
  const scopes = session.scope === null ? held : intersectScopes(parseScope(session.scope) ?? [], held);
  return {
    id: session.id,
    user: hydrate ? { id: session.userId, username: owner.user.username } : session.userId,
    created: toTimestamp(session.created),
    last_used: toTimestamp(session.lastUsed),
    expires: toTimestamp(session.expires),
    method: session.method,
    scopes: [...scopes],
    address: session.address,
    user_agent: session.userAgent.slice(0, maxUserAgentLength),
    current: isCurrent(session.id, viewer),
  };
}

/** How many characters of a User-Agent are shown. */
const maxUserAgentLength = 256;

/** Whether the caller presented that session. */
export function isCurrent(id: string, { kind, credentialId }: Principal): boolean {
  return kind === 'session' && credentialId === id;
}

/** The position of a session in the order of `sortBy`. */
export function positionOf({ session }: OwnedSession, sortBy: SessionSortField): ListPosition {
  const { id, created, lastUsed } = session;
  return { value: { created, last_used: lastUsed }[sortBy], id };
}

/**
 * The query of a list as stores accept it: with one range, of the field that the list is sorted by. Throws
 * {@link ValidationError} for a range of the other one.
 */
export function storeQuery(
  { filters, ...query }: ListQuery<SessionSortField, readonly FieldFilter[]>,
  rawQuery: string | undefined,
): SessionQuery {
  const ranges = filters.filter(({ operator }) => operator !== 'eq');
  const others = ranges.filter(({ field }) => field !== query.sortBy);
  if (others.length > 0) throw new ValidationError(rangeProblems(others, rawQuery));
  const equal = new Map(
    filters.filter(({ operator }) => operator === 'eq').map(({ field, value }) => [field, value]),
  );
  const range = Object.fromEntries(ranges.map(({ operator, value }) => [operator, value]));
  return {
    ...query,
    filters: { userId: equal.get('user'), method: equal.get('method'), range } as SessionFilters,
  };
}

function rangeProblems(filters: readonly FieldFilter[], rawQuery = ''): readonly ValidationProblem[] {
  const { values } = parseUrlEncoded(rawQuery, 'query');
  return filters.map(({ field, operator }) => {
    const name = `${field}__${operator}`;
    const msg = 'Value error, only the field of sort_by has a range';
    return { type: 'value_error', loc: ['query', name], msg, input: values[name], ctx: { error: {} } };
  });
}
