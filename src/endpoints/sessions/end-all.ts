import { setTimeout as sleep } from 'node:timers/promises';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/no-way-up.ts';
import type { Principal } from '../../credentials/principal.ts';
import type { Exchange } from '../../http/exchange.ts';
import { administratorSet } from '../../stores/administrator-set.ts';
import type { CallerFound } from '../../stores/caller.ts';
import { isUnavailable } from '../../stores/remote/breaker.ts';
import type { ScopeSet } from '../../stores/scope-set.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { actorOf } from '../audit.ts';
import { callerRefOf } from '../caller-ref.ts';
import { noteEnded, type SessionEndpointOptions } from './session-ends.ts';

const needed = ['sessions:write'] as const;
/** How long a response waits for the session store, which only has to forget what has ended. */
const maxCleanUpMs = 1_000;

/**
 * Ends the sessions of a user by a new epoch of the record, in the transaction of its audit line, and then removes them
 * from the session store, as far as it can be reached. A user who is not there has none.
 */
export async function endThoseOf(
  userId: string,
  options: SessionEndpointOptions,
  exchange: Exchange,
  principal: Principal,
): Promise<void> {
  const { records, sessions, changeAudit } = options;
  await records.endSessionsOfUser(userId, {
    caller: callerRefOf(principal),
    decide: (_user, caller) => assertMayEnd(options, caller, []),
    audit: changeAudit(exchange, (_user: UserRecord) => [
      {
        event: 'sessions_ended',
        outcome: 'success',
        actor: actorOf(principal),
        subject: userId,
        target: { type: 'user', id: userId },
      },
    ]),
  });
  const ended = await sessions.revokeAllOf(userId).catch(noneIfUnavailable);
  noteEnded(
    options,
    exchange,
    principal,
    ended.map((id) => ({ id, userId })),
  );
}

/** Ends everyone's sessions likewise, by a new epoch of the tenant; for administrators. */
export async function endEveryones(
  options: SessionEndpointOptions,
  exchange: Exchange,
  principal: Principal,
): Promise<void> {
  const { records, sessions, changeAudit, onCredentialEnded } = options;
  await records.endAllSessions({
    caller: callerRefOf(principal),
    decide: (_, caller) => assertMayEnd(options, caller, [administratorSet]),
    audit: changeAudit(exchange, () => [
      { event: 'all_sessions_ended', outcome: 'success', actor: actorOf(principal), subject: null },
    ]),
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
