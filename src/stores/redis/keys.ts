import { createHash } from 'node:crypto';
import type { SessionsOfProvider } from '../sessions.ts';

/** Which sessions a list holds; absent fields hold all. */
export interface ListedSessions {
  readonly userId?: string | undefined;
  readonly method?: string | undefined;
}

/** The names of everything Postern keeps in Redis, all below `postern:<tenant>:`. */
export interface Keys {
  /** Key of a session, a hash. The id alone decides the Cluster slot. */
  session(id: string): string;
  /** The index of a user's sessions: a sorted set. */
  userSessions(userId: string): string;
  /** The index of the sessions that a provider means: a sorted set. */
  providerSessions(which: SessionsOfProvider): string;
  /** A list of sessions, in that order: a sorted set. All lists, and what belongs to them, share one Cluster slot. */
  sessionList(order: 'created' | 'last_used', which: ListedSessions): string;
  /** When the listed sessions expire: a sorted set. */
  readonly listedExpiries: string;
  /** In which lists a session is, by its id: a hash. */
  readonly listedIn: string;
  /** Marks a session that has just ended: it must not be listed again by a step that began before. */
  unlisted(id: string): string;
  /** A counter of attempts. */
  attempts(key: string): string;
  /** A value that can be used only once, and has been. */
  used(id: string): string;
  /** The channel on which the ends of sessions are notified. */
  readonly sessionEnds: string;
}

/** Creates the names for a tenant, whose name has neither `:` nor braces. */
export function createKeys(tenant: string): Keys {
  const prefix = `postern:${tenant}:`;
  const lists = `${prefix}session-list:{${tenant}}:`;
  return {
    session: (id) => `${prefix}session:{${id}}`,
    userSessions: (userId) => `${prefix}user-sessions:{${userId}}`,
    providerSessions: (which) => `${prefix}provider-sessions:{${digestOf(which)}}`,
    sessionList(order, { userId, method }) {
      const ofUser = userId === undefined ? '' : `:user:${userId}`;
      return `${lists}${order}${ofUser}${method === undefined ? '' : `:method:${method}`}`;
    },
    listedExpiries: `${lists}expires`,
    listedIn: `${lists}listed-in`,
    unlisted: (id) => `${lists}unlisted:${id}`,
    attempts: (key) => `${prefix}attempts:${key}`,
    used: (id) => `${prefix}used:${id}`,
    sessionEnds: `${prefix}endings`,
  };
}

/** Digest of a provider's values, which may hold any character, and be long. */
function digestOf(which: SessionsOfProvider): string {
  const named = 'sid' in which ? ['sid', which.sid] : ['subject', which.subject];
  return createHash('sha256')
    .update(JSON.stringify([which.issuer, ...named]))
    .digest('base64url');
}
