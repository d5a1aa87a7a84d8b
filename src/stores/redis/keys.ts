import { createHash } from 'node:crypto';
import type { SessionsOfProvider } from '../sessions.ts';

/** The sessions that a list holds; an absent field selects all. */
export interface ListedSessions {
  readonly userId?: string | undefined;
  readonly method?: string | undefined;
}

/** The names of everything Postern keeps in Redis. */
export type Keys = ReturnType<typeof createKeys>;

/** Creates the names for a tenant, whose name has neither `:` nor braces: all are below `postern:<tenant>:`. */
export function createKeys(tenant: string) {
  const prefix = `postern:${tenant}:`;
  const lists = `${prefix}session-list:{${tenant}}:`;
  return {
    /** Key of a session, a hash. The id alone decides the Cluster slot. */
    session: (id: string) => `${prefix}session:{${id}}`,
    /** The index of a user's sessions: a sorted set. */
    userSessions: (userId: string) => `${prefix}user-sessions:{${userId}}`,
    /** The index of the sessions that a provider refers to: a sorted set. */
    providerSessions: (which: SessionsOfProvider) => `${prefix}provider-sessions:{${digestOf(which)}}`,
    /** A list of sessions, in that order: a sorted set. All lists, and what belongs to them, share one Cluster slot. */
    sessionList(order: 'created' | 'last_used', { userId, method }: ListedSessions) {
      const ofUser = userId === undefined ? '' : `:user:${userId}`;
      return `${lists}${order}${ofUser}${method === undefined ? '' : `:method:${method}`}`;
    },
    /** Expiry of the listed sessions: a sorted set. */
    listedExpiries: `${lists}expires`,
    /** The lists that hold a session, by its id: a hash. */
    listedIn: `${lists}listed-in`,
    /** Marks a session that has just ended: it must not be listed again by a step that began before. */
    unlisted: (id: string) => `${lists}unlisted:${id}`,
    /** A counter of attempts. */
    attempts: (key: string) => `${prefix}attempts:${key}`,
    /** A value that can be used only once, and has been. */
    used: (id: string) => `${prefix}used:${id}`,
    /** The channel on which the ends of sessions are notified. */
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
