import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../administration/caller.ts';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/privilege.ts';
import { userEvent } from '../../administration/user-events.ts';
import { administratorSet } from '../../stores/administrator-set.ts';
import type { CallerFound } from '../../stores/caller.ts';
import { isUnavailable } from '../../stores/remote/breaker.ts';
import type { ScopeSet } from '../../stores/scope-set.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { noteEnded, type SessionEndpointOptions } from './session-ends.ts';

const needed = ['sessions:write'] as const;
/** How long a response waits for the session store, which only has to forget what has ended. */
const maxCleanUpMs = 1_000;

/**
 * Ends the sessions of a user by a new epoch of the record, in the transaction of its audit line, and then removes them
 * from the session store, as far as it can be reached. A user who is not there has none.
 */
export async function endThoseOf(userId: string, options: SessionEndpointOptions, by: Caller): Promise<void> {
  const { records, sessions, audit } = options;
  await records.endSessionsOfUser(userId, {
    caller: by.ref,
    decide: (_user, caller) => assertMayEnd(options, caller, []),
    audit: audit.withChange(by, (user: UserRecord) => [userEvent('sessions_ended', user)]),
  });
  const ended = await sessions.revokeAllOf(userId).catch(noneIfUnavailable);
  noteEnded(
    options,
    by,
    ended.map((id) => ({ id, userId })),
  );
}

/** Ends everyone's sessions likewise, by a new epoch of the tenant; for administrators. */
export async function endEveryones(options: SessionEndpointOptions, by: Caller): Promise<void> {
  const { records, sessions, audit, onCredentialEnded } = options;
  await records.endAllSessions({
    caller: by.ref,
    decide: (_, caller) => assertMayEnd(options, caller, [administratorSet]),
    audit: audit.withChange(by, () => [{ event: 'all_sessions_ended', subject: null }]),
  });
  const cleanUp = sessions
    .revokeAll()
    .catch(noneIfUnavailable)
    .then((ended) => ended.forEach(onCredentialEnded));
  // They have ended already: with very many the rest goes on after the response.
  await Promise.race([cleanUp, sleep(maxCleanUpMs, undefined, { ref: false })]);
}

/** Judges the caller as of the change. Refuses as {@link assertHolds} does. */
function assertMayEnd(
  { holdings, now }: SessionEndpointOptions,
  caller: CallerFound,
  sets: readonly ScopeSet[],
): void {
  const wanted = { scopes: [], scopeSets: sets.map(({ id }) => id), setScopes: holdings.scopesOf(sets) };
  assertHolds(rightsOf(caller, holdings, now()), wanted, needed);
}

function noneIfUnavailable(error: unknown): readonly string[] {
  if (isUnavailable(error)) return [];
  throw error;
}
