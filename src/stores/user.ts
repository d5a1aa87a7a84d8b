import type { ScopeSet } from './scope-set.ts';

/** A person, or a service that only has keys. Instants are epoch milliseconds; ids are UUIDv7. */
export interface User {
  readonly id: string;
  /** A `service` has no password and can't sign in; its keys remain when people leave. */
  readonly kind: 'person' | 'service';
  /** As shown: NFC, trimmed. */
  readonly username: string;
  readonly displayName: string | null;
  readonly email: string | null;
  /** argon2id in PHC form; null for a user who signs in elsewhere. */
  readonly passwordHash: string | null;
  /** Own scopes, sorted. */
  readonly scopes: readonly string[];
  /** Ids of scope sets held. */
  readonly scopeSets: readonly string[];
  readonly disabled: boolean;
  /** True if the configuration defines the user, who then can't be changed otherwise. */
  readonly managed: boolean;
  readonly created: number;
  readonly updated: number;
  readonly lastLogin: number | null;
  /**
   * Sessions that began in an earlier epoch have ended (see session-epoch.ts). The later of the user's own epoch and the
   * tenant's.
   */
  readonly epoch: number;
  /** The session that survived the start of this epoch: the one by which the user changed the password. */
  readonly carriedSession: string | null;
  /** Increases with every write that changes the user, `lastLogin` excepted. */
  readonly version: number;
}

/** A user to be stored; by default an unmanaged person. */
export type NewUser = Omit<User, 'kind' | 'managed' | 'updated' | 'epoch' | 'carriedSession' | 'version'> &
  Partial<Pick<User, 'kind' | 'managed'>>;

/**
 * The grants to an identity of a user at its last sign-in. The configuration decides how far they still count: see
 * credentials/holdings.ts.
 */
export interface IdentityGrants {
  readonly issuer: string;
  readonly subject: string;
  /** The name of the provider that granted the rights; null: unknown, because the record is from before it was stored. */
  readonly provider: string | null;
  /** The names of the grants, as by config/sections/identity-providers.ts; null: unknown, from before they were stored. */
  readonly grants: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Ids of sets. */
  readonly scopeSets: readonly string[];
}

/** Everything recorded as held by a user. */
export interface UserHoldings extends Pick<User, 'scopes' | 'scopeSets'> {
  readonly grants: readonly IdentityGrants[];
  /** The sets that exist, own and granted ones, including the built-in one. */
  readonly sets: readonly ScopeSet[];
}

/** A user with everything held, read in one consistent step. */
export interface UserWithSets extends Pick<UserHoldings, 'grants' | 'sets'> {
  readonly user: User;
}

/**
 * The changes to a user; absent fields stay as they are. A new password, and disabling or enabling, start a new epoch: all
 * sessions of the user have ended.
 */
export interface UserChanges {
  readonly username?: string;
  readonly displayName?: string | null;
  readonly email?: string | null;
  /** Null: there is none any more. */
  readonly passwordHash?: string | null;
  readonly scopes?: readonly string[];
  readonly scopeSets?: readonly string[];
  readonly disabled?: boolean;
  readonly managed?: boolean;
  /** The session that survives this change, which ends all others. */
  readonly carriedSession?: string;
}
