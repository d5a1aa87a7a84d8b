import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { Changed, ScopeSetRecord } from './scope-set-records.ts';
import type { User } from './user.ts';
import type { UserRecord } from './user-records.ts';

/** The users and scope sets that a configuration manages. */
export interface ManagedConfiguration {
  /** Equal for configurations with the same users and sets, and for no others. */
  readonly digest: string;
  readonly scopeSets: readonly ManagedScopeSet[];
  readonly users: readonly ManagedUser[];
}

/** A scope set as configured. */
export interface ManagedScopeSet extends Pick<ScopeSetRecord, 'name' | 'description' | 'scopes'> {
  /** True if an unmanaged set of that name is to be taken over. */
  readonly adopt: boolean;
}

/** A user as configured. */
export interface ManagedUser
  extends Pick<User, 'username' | 'kind' | 'displayName' | 'email' | 'passwordHash' | 'scopes'> {
  /** The user's key in the configuration; `username` is the same, trimmed and normalised. */
  readonly key: string;
  /** As defined by rules/account-name.ts. */
  readonly canonicalName: string;
  /** Names of its scope sets, or `administrator`. */
  readonly scopeSets: readonly string[];
  /** True if an unmanaged user of that name is to be taken over. */
  readonly adopt: boolean;
}

/** A reason why a configuration can't be applied; `unmanaged`: the record exists, and is not to be taken over. */
export type ManagedConflict =
  | { readonly problem: 'unmanaged'; readonly type: 'user' | 'scope_set'; readonly key: string }
  /** A user of that name exists with the other kind, which can't be changed. */
  | { readonly problem: 'kind'; readonly type: 'user'; readonly key: string; readonly kind: User['kind'] };

/** Changes made by applying a configuration. */
export interface ManagedChanges {
  readonly createdSets: readonly ScopeSetRecord[];
  readonly changedSets: readonly Changed<ScopeSetRecord>[];
  readonly createdUsers: readonly UserRecord[];
  readonly changedUsers: readonly Changed<UserRecord>[];
}

/** The configuration in force for all processes on the store: the one with the highest number. */
export interface ConfigurationInForce {
  readonly number: number;
  readonly digest: string;
}

/**
 * The reason why a process applies a configuration: `next`, it has started, or the content has changed since the last reading;
 * `again`, a later reading found the same content; `forced`, someone asked for it.
 */
export type ManagedReading = 'next' | 'again' | 'forced';

/**
 * The outcome for a configuration: `current`, it was in force already; `superseded`, another one is in force by now; `applied`;
 * `conflicts`, nothing was changed. With `applied`, the field `superseded` is the number of the configuration that was in force
 * before; null: there was none.
 */
export type ManagedOutcome =
  | { readonly outcome: 'current' | 'superseded' }
  | { readonly outcome: 'conflicts'; readonly conflicts: readonly ManagedConflict[] }
  | { readonly outcome: 'applied'; readonly changes: ManagedChanges; readonly superseded: number | null };

/** The part of the records store for the users and sets that the configuration manages. */
export interface ManagedRecords {
  /**
   * Brings users and scope sets in line with a configuration, atomically and once for all gateways on the store. The
   * configuration takes the next number. If it is in force already, nothing else changes, unless it is `forced`. If it is read
   * `again` while any is in force, nothing changes at all. A managed user who is not in the configuration is disabled, and a
   * managed set that is not in it ceases to be managed. Refuses `last_administrator`.
   */
  applyManaged(
    wanted: ManagedConfiguration,
    options: { readonly reading: ManagedReading; readonly audit: AuditOf<ManagedOutcome> },
  ): Promise<ManagedOutcome>;
  /** The configuration in force; undefined: none has been applied yet. */
  configurationInForce(): Awaitable<ConfigurationInForce | undefined>;
}
