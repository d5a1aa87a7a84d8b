import type { Principal } from '../credentials/principal.ts';
import { type AuditEntry, actorOfSession, system } from '../log/log.ts';
import { administratorSet } from '../stores/administrator-set.ts';
import type { CallerFound } from '../stores/caller.ts';
import type { Records } from '../stores/records.ts';
import { isUnavailable } from '../stores/remote/breaker.ts';
import type { ScopeSet } from '../stores/scope-set.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { Session, Sessions } from '../stores/sessions.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { Audit } from './audit.ts';
import { type Author, actorOf, assertHolds, type Caller, rightsOf } from './caller.ts';
import type { PartsWith, UseCaseParts } from './use-case.ts';
import { userEvent } from './user-events.ts';

/** Scopes required to end sessions of others. */
export const sessionsWrite = ['sessions:write'] as const;

/** Dependencies of ending a session. */
export interface EndSessionParts extends Pick<UseCaseParts, 'audit' | 'onCredentialEnded'> {
  readonly sessions: Pick<Sessions, 'revoke'>;
  readonly records: Pick<Records, 'findUser'>;
}

/** The author of the end of a session, as its audit event states it. */
export type EndedBy = Pick<AuditEntry, 'actor' | 'provider'>;

/**
 * Ends a session and everything that it has in flight; resolves to the session, or to undefined if it was not live. `by` derives
 * the author from the session. Rejects with `store_unavailable`.
 */
export async function endSession(
  { sessions, records, audit, onCredentialEnded }: EndSessionParts,
  id: string,
  origin: Author['origin'],
  by: (ended: Session) => EndedBy,
): Promise<Session | undefined> {
  const ended = await sessions.revoke(id);
  // Even if another gateway ended it just before: what is in flight here ends at once, not with the next sweep.
  onCredentialEnded(id);
  if (ended === undefined) return undefined;
  if (!(await wasAlive(ended, records))) return undefined;
  const { actor, provider } = by(ended);
  recordSessionEnd(audit, { actor, origin }, ended, provider);
  return ended;
}

/** Author of a sign-out: the caller with a token; without one, the user of the session whose cookie was sent. */
export function byItsUser(principal: Principal | null): (ended: Session) => EndedBy {
  return ({ userId, id }) => ({
    actor: principal === null ? actorOfSession(userId, id) : actorOf(principal),
  });
}

/** True if the records admit the session too, or are unavailable: they must not hold up the end of a session. */
async function wasAlive(ended: Session, records: EndSessionParts['records']): Promise<boolean> {
  try {
    return admitsSession((await records.findUser(ended.userId))?.user, ended);
  } catch (error) {
    if (isUnavailable(error)) return true;
    throw error;
  }
}

/** Dependencies of {@link endSessions}. */
export interface SessionEndParts
  extends Pick<UseCaseParts, 'audit' | 'onCredentialEnded' | 'onSessionsKept'> {
  readonly sessions: Pick<Sessions, 'revokeAllOf'>;
}

/**
 * Removes the sessions of a user from the session store, except one, and records their ends. They have ended already by the epoch
 * of the user's record, or because there is no record, so an unavailable store doesn't fail the call. Resolves to their ids, or
 * to undefined if the store is unavailable.
 */
export function endSessions(
  parts: SessionEndParts,
  by: Author,
  userId: string,
  exceptId?: string,
): Promise<readonly string[] | undefined> {
  return unlessUnavailable(removeSessions(parts, by, userId, exceptId), parts);
}

/** Removes the sessions of a user, except one, from the session store, without a new epoch. Rejects with `store_unavailable`. */
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

/** Resolves as `removal` does, or to undefined if the session store is unavailable. */
async function unlessUnavailable(
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

/**
 * Ends all sessions of a user by a new epoch of the user's record, then removes them from the session store as
 * {@link endSessions} does; `isUser` is false if the user no longer exists. Rejects with `insufficient_scope`.
 */
export async function endSessionsOfUser(
  parts: PartsWith<'endSessionsOfUser'> & SessionEndParts,
  by: Caller,
  userId: string,
): Promise<{ readonly isUser: boolean; readonly removed: readonly string[] | undefined }> {
  const found = await parts.records.endSessionsOfUser(userId, {
    caller: by.ref,
    decide: (_user, caller) => assertMayEnd(parts, caller, []),
    audit: parts.audit.withChange(by, (user: UserRecord) => [userEvent('sessions_ended', user)]),
  });
  return { isUser: found !== undefined, removed: await endSessions(parts, by, userId) };
}

/**
 * Ends everyone's sessions by a new epoch of the tenant. `removed` resolves to the ids of those removed from the session store,
 * or to undefined if it is unavailable. Rejects with `insufficient_scope` unless the caller is an administrator.
 */
export async function endAllSessions(
  parts: PartsWith<'endAllSessions'> & { readonly sessions: Pick<Sessions, 'revokeAll'> },
  by: Caller,
): Promise<{ readonly removed: Promise<readonly string[] | undefined> }> {
  const { records, sessions, audit, onCredentialEnded } = parts;
  await records.endAllSessions({
    caller: by.ref,
    decide: (_, caller) => assertMayEnd(parts, caller, [administratorSet]),
    audit: audit.withChange(by, () => [{ event: 'all_sessions_ended', subject: null }]),
  });
  const removed = unlessUnavailable(sessions.revokeAll(), parts).then((ended) => {
    ended?.forEach(onCredentialEnded);
    return ended;
  });
  return { removed };
}

function assertMayEnd({ holdings, now }: UseCaseParts, caller: CallerFound, sets: readonly ScopeSet[]): void {
  const wanted = { scopes: [], scopeSets: sets.map(({ id }) => id), setScopes: holdings.scopesOf(sets) };
  assertHolds(rightsOf(caller, holdings, now()), wanted, sessionsWrite);
}

/** Dependencies of {@link keepSignIn}. */
export interface KeepSignInOptions extends Pick<UseCaseParts, 'audit' | 'now'> {
  readonly records: Pick<Records, 'keepSignIn'>;
  readonly signIn: {
    /** Revokes a session just created, whose tokens have not been sent. */
    readonly cancel: (session: Pick<Session, 'id'>) => Promise<void>;
  };
}

/**
 * Writes the audit event of a sign-in together with the time of the user's last sign-in, before the tokens of the new session are
 * sent. If that fails, the session is revoked and the call rejects: no one gets in without an event. A process that is killed
 * before the event is written leaves a session without any token.
 */
export async function keepSignIn(
  { records, signIn, audit, now }: KeepSignInOptions,
  origin: Author['origin'],
  { session, username }: { readonly session: Pick<Session, 'id' | 'userId'>; readonly username: string },
  provider?: string,
): Promise<void> {
  const { id, userId } = session;
  const by = { actor: actorOfSession(userId, id), name: username, origin };
  try {
    await records.keepSignIn(
      { userId, instant: now() },
      audit.withChange(by, () => [{ event: 'login_succeeded', provider, subject: userId, session: id }]),
    );
  } catch (error) {
    await signIn.cancel(session);
    recordSessionEnd(audit, { actor: system, origin }, session);
    throw error;
  }
}
