import { uuidv7 } from 'uuidv7';
import type { Held } from '../credentials/holdings.ts';
import { heldScopes, sortedDistinct } from '../credentials/scopes.ts';
import type { LoginThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import { canonicalAccountName } from '../rules/account-name.ts';
import type { ListedApiKey } from '../stores/api-key.ts';
import type { CallerFound } from '../stores/caller.ts';
import type { NewUser, User } from '../stores/user.ts';
import type {
  KeysOfRemoved,
  RemovalFound,
  RemovedUser,
  UserRecord,
  UserRecordChanges,
} from '../stores/user-records.ts';
import { assertHolds, type Caller, rightsOf, rightsOfHeld, type Wanted } from './caller.ts';
import { endSessions, type SessionEndParts } from './sessions.ts';
import type { PartsWith, UseCaseParts } from './use-case.ts';
import { changedUserEvents, createdUserEvents, removedUserEvents, userEvent } from './user-events.ts';

/** Scopes required to change users. */
export const usersWrite = ['users:write'] as const;

/** Fields of a new user; `username` as parsed, scopes and sets in any order. */
export type NewUserFields = Omit<NewUser, 'id' | 'created' | 'lastLogin'>;

/** Further checks of a change against the records that its transaction found. */
export interface Judgement<Found> {
  /** Called before the caller's rights are judged. */
  readonly judge?: (found: Found) => void;
  /** Called last, to refuse changes that only another author may make; default {@link assertUnmanaged}. */
  readonly assertFree?: (found: Pick<UserRecord, 'user'>) => void;
}

/** Creates a user who holds no more than the caller. Rejects with `insufficient_scope`, `conflict`. */
export async function createUser(
  parts: PartsWith<'createUserRecord' | 'findScopeSets'>,
  by: Caller,
  { scopes, scopeSets, ...fields }: NewUserFields,
): Promise<UserRecord> {
  const { records, audit, now } = parts;
  const setScopes = await scopesOfSets(parts, scopeSets);
  const user = {
    ...fields,
    id: uuidv7(),
    scopes: sortedDistinct(scopes),
    scopeSets: sortedDistinct(scopeSets),
    created: now(),
    lastLogin: null,
  };
  return records.createUserRecord({
    caller: by.ref,
    decide(_, caller) {
      assertMayChange(parts, caller, null, { scopes, scopeSets, setScopes });
      return { user, canonicalName: canonicalAccountName(user.username) };
    },
    audit: audit.withChange(by, createdUserEvents),
  });
}

/**
 * Changes a user, if the caller holds the user's rights from before and after. A new password, or a change of `disabled`, ends
 * the user's sessions. Rejects with `not_found`, `insufficient_scope`, `managed`, `conflict`, `last_administrator`.
 */
export async function changeUser(
  parts: PartsWith<'changeUserRecord' | 'findScopeSets'> & SessionEndParts,
  by: Caller,
  id: string,
  { scopes, scopeSets, ...others }: UserRecordChanges,
  { judge = () => {}, assertFree = assertUnmanaged }: Judgement<UserRecord> = {},
): Promise<UserRecord> {
  const { records, audit } = parts;
  const setScopes = await scopesOfSets(parts, scopeSets);
  const changed = await records.changeUserRecord(id, {
    caller: by.ref,
    decide(found, caller) {
      judge(found);
      assertMayChange(parts, caller, found, {
        scopes: addedTo(found.user.scopes, scopes),
        scopeSets: addedTo(found.user.scopeSets, scopeSets),
        setScopes,
      });
      assertFree(found);
      return {
        ...others,
        scopes: scopes && sortedDistinct(scopes),
        scopeSets: scopeSets && sortedDistinct(scopeSets),
      };
    },
    audit: audit.withChange(by, changedUserEvents),
  });
  if (changed === undefined) throw new Refusal('not_found');
  // Also where the record already says so: an earlier call may not have reached the session store.
  if (others.disabled === true || others.passwordHash !== undefined) await endSessions(parts, by, id);
  return changed.after;
}

/**
 * Sets the caller's own password; all other sessions of the caller end. `verified` is the record with which the current password
 * was verified. Rejects with `wrong_password` if the password has changed since, `managed`, `invalid_token`.
 */
export async function changeOwnPassword(
  parts: PartsWith<'changeUserRecord'> & SessionEndParts,
  by: Caller,
  verified: UserRecord,
  { passwordHash, sessionId }: { readonly passwordHash: string; readonly sessionId: string },
): Promise<void> {
  const { records, holdings, audit, now } = parts;
  const { id, epoch } = verified.user;
  const changed = await records.changeUserRecord(id, {
    caller: by.ref,
    decide(found, caller) {
      rightsOf(caller, holdings, now());
      // Another request of this session has changed the password in the meantime.
      if (found.user.epoch !== epoch) throw new Refusal('wrong_password');
      assertUnmanaged(found);
      // In one step: the record names the session that goes on.
      return { passwordHash, carriedSession: sessionId };
    },
    audit: audit.withChange(by, changedUserEvents),
  });
  if (changed === undefined) throw new Refusal('invalid_token');
  await endSessions(parts, by, id, sessionId);
}

/**
 * Removes a user and the user's sessions; `keys` says what happens to the user's keys. Rejects with `not_found`,
 * `insufficient_scope`, `managed`, `last_administrator`.
 */
export async function removeUser(
  parts: PartsWith<'removeUserRecord'> & SessionEndParts,
  by: Caller,
  id: string,
  keys: KeysOfRemoved,
  { judge = () => {}, assertFree = assertUnmanaged }: Judgement<RemovalFound> = {},
): Promise<RemovedUser> {
  const { records, audit, onCredentialEnded } = parts;
  const removed = await records.removeUserRecord(id, keys, {
    caller: by.ref,
    decide(removal, caller) {
      judge(removal);
      assertMayChange(parts, caller, removal.found);
      assertKeysMayStay(parts, caller, removal);
      assertFree(removal.found);
    },
    audit: audit.withChange(by, removedUserEvents),
  });
  if (removed === undefined) throw new Refusal('not_found');
  for (const key of removed.deletedKeys) onCredentialEnded(key.id);
  await endSessions(parts, by, id);
  return removed;
}

/**
 * Forgets the failed sign-ins of a user, but not those counted by address alone. Rejects with `not_found`, `insufficient_scope`,
 * and with `store_unavailable`: the audit event has been written then only if the counters became unavailable at that moment.
 */
export async function liftThrottle(
  parts: PartsWith<'findUser' | 'judgeUserRecord'>,
  throttle: Pick<LoginThrottle, 'stateOf' | 'lift'>,
  by: Caller,
  id: string,
): Promise<UserRecord> {
  const target = await parts.records.findUser(id);
  if (target === undefined) throw new Refusal('not_found');
  // Rejects if the counters are unavailable: an event would claim that they are lifted.
  await throttle.stateOf(canonicalAccountName(target.user.username));
  // The event comes before the change: the counters may be in another store, and must not be lifted without an event.
  const found = await parts.records.judgeUserRecord(id, {
    caller: by.ref,
    decide: (judged, caller) => assertMayChange(parts, caller, judged),
    audit: parts.audit.withChange(by, (made: UserRecord) => [userEvent('throttle_lifted', made)]),
  });
  if (found === undefined) throw new Refusal('not_found');
  await throttle.lift(canonicalAccountName(found.user.username));
  return found;
}

/** Refuses with `insufficient_scope` unless the caller holds all that the user can hold, and every right that is added. */
export function assertMayChange(
  { holdings, now }: UseCaseParts,
  caller: CallerFound,
  target: UserRecord | null,
  added: Wanted = { scopes: [], scopeSets: [] },
): void {
  const rights = rightsOf(caller, holdings, now());
  if (target !== null) assertHolds(rights, holdings.mostOf(target), usersWrite);
  assertHolds(rights, added, usersWrite);
}

/** Refuses with `managed` for a user whom the configuration manages. */
export function assertUnmanaged({ user }: { readonly user: Pick<User, 'managed'> }): void {
  if (user.managed) throw new Refusal('managed');
}

/**
 * Refuses to keep or transfer keys that the caller could not mint now for the new owner: a key is no longer bounded by the
 * removed owner, so it regains rights that the owner had lost. The operator may mint any key for anyone.
 */
function assertKeysMayStay(
  { holdings, catalogue, now }: UseCaseParts,
  caller: CallerFound,
  { keys, newOwner }: RemovalFound,
): void {
  if (caller.kind === 'command_line') return;
  const rights = rightsOf(caller, holdings, now());
  if (newOwner !== undefined) assertHolds(rights, holdings.mostOf(newOwner), usersWrite);
  const written = keys.map((key) => writtenIn(key, catalogue));
  for (const held of written) assertHolds(rights, held, usersWrite);
  if (newOwner === undefined) return;
  // A provider's grants to the new owner don't count for a key that was minted in none of their sessions.
  const ownerRights = rightsOfHeld(holdings.ofUser(newOwner, null));
  for (const held of written) assertHolds(ownerRights, held, []);
}

function writtenIn({ key, sets }: ListedApiKey, catalogue: ReadonlySet<string>): Held {
  return { scopes: heldScopes(key.scopes, sets, catalogue), scopeSets: key.scopeSets };
}

async function scopesOfSets({ records, holdings }: PartsWith<'findScopeSets'>, ids: readonly string[] = []) {
  return holdings.scopesOf(await records.findScopeSets(ids));
}

function addedTo(own: readonly string[], wanted: readonly string[] = []): readonly string[] {
  return wanted.filter((name) => !own.includes(name));
}
