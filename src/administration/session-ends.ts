import { isUnavailable } from '../stores/remote/breaker.ts';
import type { Session, Sessions } from '../stores/sessions.ts';
import type { Audit } from './audit.ts';
import type { Author } from './caller.ts';

/** Dependencies of {@link endSessions}. */
export interface SessionEndParts {
  readonly sessions: Pick<Sessions, 'revokeAllOf'>;
  readonly audit: Audit;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
  /** Called if the session store is unavailable and keeps the ended sessions until they expire. Default: ignored. */
  readonly onSessionsKept?: (error: unknown) => void;
}

/**
 * Removes the sessions of a user from their store, except one, and records their ends. By the epoch of the user's record, or
 * without a record, the sessions have ended already, so an unavailable store doesn't fail the call. Resolves to the ids;
 * undefined if the store is unavailable.
 */
export function endSessions(
  parts: SessionEndParts,
  by: Author,
  userId: string,
  exceptId?: string,
): Promise<readonly string[] | undefined> {
  return unlessUnavailable(removeSessions(parts, by, userId, exceptId), parts);
}

/** Ends the sessions of a user, except one, in their store alone. Rejects `store_unavailable`. */
export async function removeSessions(
  { sessions, audit, onCredentialEnded }: SessionEndParts,
  by: Author,
  userId: string,
  exceptId?: string,
): Promise<readonly string[]> {
  const ended = await sessions.revokeAllOf(userId, exceptId);
  for (const session of ended) {
    onCredentialEnded(session);
    recordSessionEnd(audit, by, { id: session, userId });
  }
  return ended;
}

/** Records that a session was ended; `provider` is the name of the provider that asked for it. */
export function recordSessionEnd(
  audit: Audit,
  by: Author,
  { id, userId }: Pick<Session, 'id' | 'userId'>,
  provider?: string,
): void {
  audit.record(by, { event: 'session_revoked', subject: userId, session: id, provider });
}

/** Ids of sessions removed from their store; undefined if the store is unavailable. */
export async function unlessUnavailable(
  removal: Promise<readonly string[]>,
  { onSessionsKept }: Pick<SessionEndParts, 'onSessionsKept'>,
): Promise<readonly string[] | undefined> {
  try {
    return await removal;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    onSessionsKept?.(error);
    return undefined;
  }
}
