import type { Holdings } from '../credentials/holdings.ts';
import { intersectScopes, parseScope } from '../credentials/scopes.ts';
import type { ListPage, ListPosition } from '../stores/list-query.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import { originOf } from '../stores/session-origin.ts';
import type { Session, SessionQuery, SessionSortField, Sessions } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import { toTimestamp } from './timestamp.ts';

/** A live session and its user. */
export interface OwnedSession {
  readonly session: Session;
  readonly owner: UserWithSets;
}

/** Maximum number of reads of a page: it is read again after removing sessions that have ended according to the records. */
const maxReads = 4;

/** Finder of sessions that are live according to both the session store and the records. */
export class LiveSessionFinder {
  readonly #sessions: Pick<Sessions, 'find' | 'list' | 'revoke'>;
  readonly #records: Pick<Records, 'findUser'>;

  constructor(sessions: Pick<Sessions, 'find' | 'list' | 'revoke'>, records: Pick<Records, 'findUser'>) {
    this.#sessions = sessions;
    this.#records = records;
  }

  async find(id: string): Promise<OwnedSession | undefined> {
    const session = await this.#sessions.find(id);
    if (session === undefined) return undefined;
    return admitted([session], [await this.#records.findUser(session.userId)])[0];
  }

  /** A page of live sessions. Sessions from an earlier epoch of their user have ended: they are removed, and so not counted. */
  async list(query: SessionQuery): Promise<ListPage<OwnedSession>> {
    for (let reads = 1; ; reads += 1) {
      const page = await this.#sessions.list(query);
      const owners = await this.#ownersOf(page.items);
      const dead = page.items.filter((session, index) => hasEnded(session, owners[index]));
      if (dead.length === 0 || reads === maxReads) return { ...page, items: admitted(page.items, owners) };
      await Promise.all(dead.map(({ id }) => this.#sessions.revoke(id)));
    }
  }

  async #ownersOf(sessions: readonly Session[]): Promise<readonly (UserWithSets | undefined)[]> {
    const users = new Map<string, ReturnType<Records['findUser']>>();
    for (const { userId } of sessions)
      if (!users.has(userId)) users.set(userId, this.#records.findUser(userId));
    return Promise.all(sessions.map(async ({ userId }) => users.get(userId)));
  }
}

function admitted(
  sessions: readonly Session[],
  owners: readonly (UserWithSets | undefined)[],
): readonly OwnedSession[] {
  return sessions.flatMap((session, index) => {
    const owner = owners[index];
    return owner !== undefined && admitsSession(owner.user, session) ? [{ session, owner }] : [];
  });
}

/** True if the session has ended for good. It hasn't if only a cached record, older than the session, doesn't admit it. */
function hasEnded({ id, epoch }: Session, owner: UserWithSets | undefined): boolean {
  return owner === undefined || (epoch < owner.user.epoch && id !== owner.user.carriedSession);
}

/** Presents a session as `SessionRead`, without `current`. */
export function presentSession(
  { session, owner }: OwnedSession,
  { holdings, hydrate }: { readonly holdings: Holdings; readonly hydrate: boolean },
) {
  return {
    id: session.id,
    user: hydrate ? { id: session.userId, username: owner.user.username } : session.userId,
    created: toTimestamp(session.created),
    last_used: toTimestamp(session.lastUsed),
    expires: toTimestamp(session.expires),
    method: session.method,
    scopes: [...scopesOf(session, owner, holdings)],
    address: session.address,
    user_agent: session.userAgent.slice(0, maxUserAgentLength),
  };
}

/** Scopes that the next access token of a session holds. */
export function scopesOf(session: Session, owner: UserWithSets, holdings: Holdings): readonly string[] {
  const held = holdings.ofUser(owner, originOf(session)).scopes;
  return session.scope === null ? held : intersectScopes(parseScope(session.scope) ?? [], held);
}

/** Maximum number of characters of a User-Agent that are shown. */
const maxUserAgentLength = 256;

/** The position of a session in the order of `sortBy`. */
export function positionOf({ session }: OwnedSession, sortBy: SessionSortField): ListPosition {
  const { id, created, lastUsed } = session;
  return { value: { created, last_used: lastUsed }[sortBy], id };
}
