import type { ListedApiKey, RemovedApiKey } from './api-key.ts';
import type { Awaitable } from './awaitable.ts';
import type { JudgedChange } from './caller.ts';
import type { Identity } from './identity.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';
import type { Changed } from './scope-set-records.ts';
import type { NewUser, UserChanges, UserWithSets } from './user.ts';

/** A user as an administered record, read in one consistent step. */
export interface UserRecord extends UserWithSets {
  /** In the order in which they were linked. */
  readonly identities: readonly Identity[];
}

/** Query of users. */
export type UserQuery = ListQuery<UserSortField, readonly FieldFilter<UserFilterField>[]>;
export type UserSortField = 'created' | 'username' | 'last_login';
/** Field that users are filtered by: `username` with `eq` by a canonical name, `scope_sets` by ids of sets held or granted. */
export type UserFilterField =
  | 'username'
  | 'email'
  | 'kind'
  | 'scope_sets'
  | 'disabled'
  | 'managed'
  | 'created'
  | 'last_login';

/** A user to be created. */
export interface NewUserRecord {
  readonly user: NewUser;
  /** As defined by rules/account-name.ts. */
  readonly canonicalName: string;
}

/** Changed fields of a user; a new name comes with its canonical form. */
export interface UserRecordChanges extends Omit<UserChanges, 'username'> {
  readonly name?: { readonly username: string; readonly canonicalName: string };
}

/** Treatment of the keys of a removed user: all deleted, all kept without an owner, or all given to another user. */
export type KeysOfRemoved = 'delete' | 'keep' | { readonly transferTo: string };

/** Basis on which the removal of a user is judged. */
export interface RemovalFound {
  readonly found: UserRecord;
  /** The user's keys that will be kept or transferred. */
  readonly keys: readonly ListedApiKey[];
  /** The new owner of the keys; undefined when there is no such user, or no transfer. */
  readonly newOwner: UserRecord | undefined;
}

/** Removed user, and the keys that were deleted or transferred. */
export interface RemovedUser {
  readonly found: UserRecord;
  readonly deletedKeys: readonly RemovedApiKey[];
  readonly transferredKeys: readonly RemovedApiKey[];
}

/** The part of the records store for the administration of users. */
export interface UserRecords {
  listUserRecords(query: UserQuery): Awaitable<ListPage<UserRecord>>;
  findUserRecord(id: string): Awaitable<UserRecord | undefined>;
  /**
   * Creates a user. Closes the bootstrap if the user is an enabled administrator who can sign in, as every call does that makes
   * one. Refuses `conflict` when the name is taken or a set is gone.
   */
  createUserRecord(change: JudgedChange<null, NewUserRecord, UserRecord>): Promise<UserRecord>;
  /**
   * Changes a user. Resolves to the user before and after; undefined when there is none. Refuses `conflict` when the name is
   * taken or a set is gone, and `last_administrator`.
   */
  changeUserRecord(
    id: string,
    change: JudgedChange<UserRecord, UserRecordChanges, Changed<UserRecord>>,
  ): Promise<Changed<UserRecord> | undefined>;
  /** Judges a change to a user that is made outside the records, and keeps its audit events; undefined: no such user. */
  judgeUserRecord(
    id: string,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /** Removes a user; resolves to undefined when there is none. Refuses `last_administrator`. */
  removeUserRecord(
    id: string,
    keys: KeysOfRemoved,
    change: JudgedChange<RemovalFound, void, RemovedUser>,
  ): Promise<RemovedUser | undefined>;
  /**
   * Links an identity to a user. Resolves to the user before the change; undefined when there is none. Refuses `conflict` when
   * the identity is already linked to any user.
   */
  linkUserIdentity(
    id: string,
    change: JudgedChange<UserRecord, Identity, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /**
   * Unlinks an identity, and ends all sessions of the user by a new epoch. Resolves to the user before the change; undefined when
   * there is none with that identity. Refuses `last_administrator`.
   */
  unlinkUserIdentity(
    id: string,
    identity: Identity,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /**
   * Starts a new epoch of the user, which ends every session and every sign-in under way, whatever the session store says
   * (session-epoch.ts). Resolves to the user before the change; undefined when there is none. The caller removes the sessions
   * from the session store afterwards ({@link ./sessions.ts Sessions.revokeAllOf}), if that can be reached.
   */
  endSessionsOfUser(
    id: string,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /** As {@link endSessionsOfUser}, for every user of the tenant: ends the caller's own session, too. */
  endAllSessions(change: JudgedChange<null, void, void>): Promise<void>;
}
