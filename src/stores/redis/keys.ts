/** The names of everything Postern keeps in Redis, all below `postern:<tenant>:`. */
export interface Keys {
  /** One session: a hash. The id alone decides the Cluster slot. */
  session(id: string): string;
  /** The index of a user's sessions: a sorted set. */
  userSessions(userId: string): string;
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
  return {
    session: (id) => `${prefix}session:{${id}}`,
    userSessions: (userId) => `${prefix}user-sessions:{${userId}}`,
    attempts: (key) => `${prefix}attempts:${key}`,
    used: (id) => `${prefix}used:${id}`,
    sessionEnds: `${prefix}endings`,
  };
}
