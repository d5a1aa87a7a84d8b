import { createHash } from 'node:crypto';
import type { SessionsOfProvider } from '../sessions.ts';

/** Selection of the sessions in a list; an absent field doesn't restrict it. */
export interface ListedSessions {
  readonly userId?: string | undefined;
  readonly method?: string | undefined;
}

/** The names of everything Postern keeps in Redis. */
export type Keys = ReturnType<typeof createKeys>;

/** Creates the names for a tenant, whose own name has neither `:` nor braces: all begin with `postern:<tenant>:`. */
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
    /** A list of sessions in the given order: a sorted set. All lists and the next three keys share one Cluster slot. */
    sessionList(order: 'created' | 'last_used', { userId, method }: ListedSessions) {
      const ofUser = userId === undefined ? '' : `:user:${userId}`;
      return `${lists}${order}${ofUser}${method === undefined ? '' : `:method:${method}`}`;
    },
    /** Expiry of the listed sessions: a sorted set. */
    listedExpiries: `${lists}expires`,
    /** The lists that hold a session, by its id: a hash. */
    listedIn: `${lists}listed-in`,
    /** Mark of a session that has just ended: a step that began earlier must not list it again. */
    unlisted: (id: string) => `${lists}unlisted:${id}`,
    /** A counter of attempts, or the counters of a group: a hash. */
    attempts: (key: string) => `${prefix}attempts:${key}`,
    /** Mark of a value that can be used only once, and has been used. */
    used: (id: string) => `${prefix}used:${id}`,
    /** The channel on which the ends of sessions are notified. */
    sessionEnds: `${prefix}endings`,
  };
}

/** Digest of a provider's values, which may be long and contain any character. */
function digestOf(which: SessionsOfProvider): string {
  const named = 'sid' in which ? ['sid', which.sid] : ['subject', which.subject];
  return createHash('sha256')
    .update(JSON.stringify([which.issuer, ...named]))
    .digest('base64url');
}
