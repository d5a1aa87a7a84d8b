import type { ScopeSet } from './scope-set.ts';

/** A person, or a service that only has keys. Instants are epoch milliseconds; ids are UUIDv7. */
export interface User {
  readonly id: string;
  /** A `service` has no password and can't sign in; its keys stay valid when people leave. */
  readonly kind: 'person' | 'service';
  /** As shown: NFC, trimmed. */
  readonly username: string;
  readonly displayName: string | null;
  readonly email: string | null;
  /** A hash of a kind that rules/password-hash.ts accepts; null: the user has no password. */
  readonly passwordHash: string | null;
  /** The user's own scopes, sorted; neither those of scope sets nor granted ones. */
  readonly scopes: readonly string[];
  /** Ids of the user's own scope sets, without granted ones. */
  readonly scopeSets: readonly string[];
  readonly disabled: boolean;
  /** True if the configuration defines the user, who then can't be changed otherwise. */
  readonly managed: boolean;
  readonly created: number;
  readonly updated: number;
  readonly lastLogin: number | null;
  /**
   * The later of the user's own epoch and the tenant's: sessions that began in an earlier epoch have ended (see
   * session-epoch.ts).
   */
  readonly epoch: number;
  /** Id of the session that survived the start of this epoch: the one in which the user changed the password. */
  readonly carriedSession: string | null;
  /** Increases with every write that changes the user, `lastLogin` excepted. */
  readonly version: number;
}

/** A user to be created; by default an unmanaged person. */
export type NewUser = Omit<User, 'kind' | 'managed' | 'updated' | 'epoch' | 'carriedSession' | 'version'> &
  Partial<Pick<User, 'kind' | 'managed'>>;

/**
 * The grants to one of a user's identities at the last sign-in with it. The configuration decides how far they still count:
 * see credentials/holdings.ts.
 */
export interface IdentityGrants {
  readonly issuer: string;
  readonly subject: string;
  /** The name of the provider that granted the rights; null: unknown, because the record is from before it was stored. */
  readonly provider: string | null;
  /** The names of the grants (config/sections/identity-providers.ts); null: unknown, from before they were stored. */
  readonly grants: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Ids of sets. */
  readonly scopeSets: readonly string[];
}

/** The rights of a user as recorded: own and granted ones. */
export interface UserHoldings extends Pick<User, 'scopes' | 'scopeSets'> {
  readonly grants: readonly IdentityGrants[];
  /** The sets held and granted that still exist, the built-in one included. */
  readonly sets: readonly ScopeSet[];
}

/** A user with everything recorded of the user's rights, read in one consistent step. */
export interface UserWithSets extends Pick<UserHoldings, 'grants' | 'sets'> {
  readonly user: User;
}

/**
 * The changes to a user; absent fields stay as they are. A new password, and disabling or enabling, start a new epoch, which
 * ends all sessions of the user.
 */
export interface UserChanges {
  readonly username?: string;
  readonly displayName?: string | null;
  readonly email?: string | null;
  /** Null removes the password. */
  readonly passwordHash?: string | null;
  readonly scopes?: readonly string[];
  readonly scopeSets?: readonly string[];
  readonly disabled?: boolean;
  readonly managed?: boolean;
  /** Id of the session that survives the new epoch. */
  readonly carriedSession?: string;
}
