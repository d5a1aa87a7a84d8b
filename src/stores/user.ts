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
  /** Kept by the configuration, which alone may change it. */
  readonly managed: boolean;
  readonly created: number;
  readonly updated: number;
  readonly lastLogin: number | null;
  /** Sessions that began under an earlier epoch have ended. */
  readonly epoch: number;
  /** Grows with every write that changes what is read of the user; `lastLogin` does not count. */
  readonly version: number;
}

/** A user to be stored; by default an unmanaged person. */
export type NewUser = Omit<User, 'kind' | 'managed' | 'updated' | 'epoch' | 'version'> &
  Partial<Pick<User, 'kind' | 'managed'>>;

/**
 * What one identity of a user was given at the last sign-in by it. How far it counts is for the configuration to say:
 * see credentials/holdings.ts.
 */
export interface IdentityGrants {
  readonly issuer: string;
  /** By which grants, as config/identity-providers.ts names them; null: nobody knows, it is from before that was kept. */
  readonly grants: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Ids of sets. */
  readonly scopeSets: readonly string[];
}

/** What is written of a user as held. */
export interface UserHoldings extends Pick<User, 'scopes' | 'scopeSets'> {
  readonly grants: readonly IdentityGrants[];
  /** What there is of the sets, own and granted ones, the built-in one included. */
  readonly sets: readonly ScopeSet[];
}

/** A user with what is held, read in one consistent step. */
export interface UserWithSets extends Pick<UserHoldings, 'grants' | 'sets'> {
  readonly user: User;
}

/** What a user's record takes as a change; absent fields stay. */
export interface UserChanges {
  readonly username?: string;
  readonly displayName?: string | null;
  readonly email?: string | null;
  readonly passwordHash?: string;
  /** The change is made only while the hash is this one; otherwise the user is given back as it is. The password stays the same, hashed again: no session ends. */
  readonly ifPasswordHash?: string;
  readonly scopes?: readonly string[];
  readonly scopeSets?: readonly string[];
  readonly disabled?: boolean;
}
