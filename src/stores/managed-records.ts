import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { Changed, ScopeSetRecord } from './scope-set-records.ts';
import type { User } from './user.ts';
import type { UserRecord } from './user-records.ts';

/** The users and scope sets that a configuration manages. */
export interface ManagedConfiguration {
  /** Equal for configurations with the same users and sets, and only for these. */
  readonly digest: string;
  readonly scopeSets: readonly ManagedScopeSet[];
  readonly users: readonly ManagedUser[];
}

/** A scope set as configured. */
export interface ManagedScopeSet extends Pick<ScopeSetRecord, 'name' | 'description' | 'scopes'> {
  /** Set if an unmanaged set of that name is taken over. */
  readonly adopt: boolean;
}

/** A user as configured. */
export interface ManagedUser
  extends Pick<User, 'username' | 'kind' | 'displayName' | 'email' | 'passwordHash' | 'scopes'> {
  /** As in the configuration; `username` is trimmed and normalised. */
  readonly key: string;
  /** As defined by rules/account-name.ts. */
  readonly canonicalName: string;
  /** Names of its scope sets, or `administrator`. */
  readonly scopeSets: readonly string[];
  /** Set if an unmanaged user of that name is taken over. */
  readonly adopt: boolean;
}

/** The reason why a configuration can't be applied; nothing was changed. */
export type ManagedConflict =
  | { readonly problem: 'unmanaged'; readonly type: 'user' | 'scope_set'; readonly key: string }
  /** The user exists as one of the other kind, and the kind never changes. */
  | { readonly problem: 'kind'; readonly type: 'user'; readonly key: string; readonly kind: User['kind'] };

/** Changes made by applying a configuration. */
export interface ManagedChanges {
  readonly createdSets: readonly ScopeSetRecord[];
  readonly changedSets: readonly Changed<ScopeSetRecord>[];
  readonly createdUsers: readonly UserRecord[];
  readonly changedUsers: readonly Changed<UserRecord>[];
}

/** The configuration in force among all processes on the store: the one with the highest number. */
export interface ConfigurationInForce {
  readonly number: number;
  readonly digest: string;
}

/**
 * The reason why a process applies a configuration: `next`, at its start, or because the content has changed since the last
 * reading; `again`, with unchanged content; `forced`, because someone asks for it.
 */
export type ManagedReading = 'next' | 'again' | 'forced';

/**
 * The outcome for a configuration: `current`, it was in force already; `superseded`, another process has taken a later number
 * with other content; `applied`; `conflicts`, nothing was applied. The number in `superseded` is that of the configuration
 * in force before; null: there was none.
 */
export type ManagedOutcome =
  | { readonly outcome: 'current' | 'superseded' }
  | { readonly outcome: 'conflicts'; readonly conflicts: readonly ManagedConflict[] }
  | { readonly outcome: 'applied'; readonly changes: ManagedChanges; readonly superseded: number | null };

/** The part of the records store about the users and sets that the configuration manages. */
export interface ManagedRecords {
  /**
   * Brings users and scope sets in step with a configuration, atomically and once for all gateways on the store. The
   * configuration takes the next number, unless it is read `again`: then nothing changes, and it is superseded if another one is
   * in force. A configuration that is in force already changes only the number, unless it is `forced`. A managed user who is
   * not in the configuration is disabled, and a managed set that is not in it ceases to be managed. Refuses
   * `last_administrator`.
   */
  applyManaged(
    wanted: ManagedConfiguration,
    options: { readonly reading: ManagedReading; readonly audit: AuditOf<ManagedOutcome> },
  ): Promise<ManagedOutcome>;
  /** The configuration in force; undefined: none has been applied yet. */
  configurationInForce(): Awaitable<ConfigurationInForce | undefined>;
}
