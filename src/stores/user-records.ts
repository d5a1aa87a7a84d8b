import type { ListedApiKey, RemovedApiKey } from './api-key.ts';
import type { Awaitable } from './awaitable.ts';
import type { JudgedChange } from './caller.ts';
import type { Identity } from './identity.ts';
import type { FieldFilter, ListPage, ListQuery } from './list-query.ts';
import type { Changed } from './scope-set-records.ts';
import type { NewUser, UserChanges, UserWithSets } from './user.ts';

/** A user as administered, read in one consistent step. */
export interface UserRecord extends UserWithSets {
  /** In the order they were linked. */
  readonly identities: readonly Identity[];
}

/** Query of users. */
export type UserQuery = ListQuery<UserSortField, readonly FieldFilter<UserFilterField>[]>;
export type UserSortField = 'created' | 'username' | 'last_login';
/** `username`: `eq` takes a canonical name; `scope_sets`: ids of sets that are held, however that came about. */
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

/** Fate of the keys of a removed user: all deleted, all kept without an owner, or given to another user. */
export type KeysOfRemoved = 'delete' | 'keep' | { readonly transferTo: string };

/** Basis on which the removal of a user is judged. */
export interface RemovalFound {
  readonly found: UserRecord;
  /** Keys that will remain. */
  readonly keys: readonly ListedApiKey[];
  /** The new owner of the keys; undefined when there is no such user, or no transfer. */
  readonly newOwner: UserRecord | undefined;
}

/** Removed user, and the keys. */
export interface RemovedUser {
  readonly found: UserRecord;
  readonly deletedKeys: readonly RemovedApiKey[];
  readonly transferredKeys: readonly RemovedApiKey[];
}

/** The part of the records store by which users are administered. */
export interface UserRecords {
  listUserRecords(query: UserQuery): Awaitable<ListPage<UserRecord>>;
  findUserRecord(id: string): Awaitable<UserRecord | undefined>;
  /**
   * Creates a user. Like every call that makes an enabled administrator who can sign in, closes the bootstrap if the user is one.
   * Refuses `conflict` when the name is taken or a set is gone.
   */
  createUserRecord(change: JudgedChange<null, NewUserRecord, UserRecord>): Promise<UserRecord>;
  /**
   * The user before and after; undefined when there is none. Refuses `conflict` when the name is taken or a set is gone,
   * `last_administrator`.
   */
  changeUserRecord(
    id: string,
    change: JudgedChange<UserRecord, UserRecordChanges, Changed<UserRecord>>,
  ): Promise<Changed<UserRecord> | undefined>;
  /** Judges a change to a user outside of the records, and keeps its audit events. Undefined when there is no such user. */
  judgeUserRecord(
    id: string,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /** Undefined when there is none. Refuses `last_administrator`. */
  removeUserRecord(
    id: string,
    keys: KeysOfRemoved,
    change: JudgedChange<RemovalFound, void, RemovedUser>,
  ): Promise<RemovedUser | undefined>;
  /**
   * Links an identity to a user, as of now. Resolves to the user as found; undefined when there is none. Refuses `conflict` when
   * the identity is linked already, to whichever user.
   */
  linkUserIdentity(
    id: string,
    change: JudgedChange<UserRecord, Identity, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /**
   * Unlinks an identity; all sessions of the user end by the user's epoch. Resolves to the user as found; undefined when there is
   * none who has it. Refuses `last_administrator`.
   */
  unlinkUserIdentity(
    id: string,
    identity: Identity,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /**
   * Starts a new epoch of the user: every session that has begun, and every sign-in under way, has ended, whatever the
   * session store says (session-epoch.ts). Resolves to the user as found; undefined when there is none. The session store
   * is cleaned afterwards ({@link ./sessions.ts Sessions.revokeAllOf}), as far as it can be reached.
   */
  endSessionsOfUser(
    id: string,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /** As {@link endSessionsOfUser}, for every user of the tenant: the caller's own session has ended, too. */
  endAllSessions(change: JudgedChange<null, void, void>): Promise<void>;
}
