import type { UserWithSets } from './user.ts';

/** An account at an identity provider (OpenID Connect Core §2: `iss` and `sub` together). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** A provider's claims about a user who signs in. */
export interface IdentityClaims extends Identity {
  readonly displayName: string | null;
  readonly email: string | null;
  /** Granted scopes, sorted. They and `scopeSets`, ids of granted sets, replace those granted before. */
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  /** The names of the grants from which these scopes and sets come; absent: unknown. */
  readonly grants?: readonly string[];
  /** The name of the provider that grants them; absent: unknown. */
  readonly provider?: string;
}

/** A user to be created at a first sign-in, with the first of `names` that is free. */
export interface NewIdentityUser {
  readonly id: string;
  readonly created: number;
  readonly names: readonly { readonly username: string; readonly canonicalName: string }[];
}

/** An identity of a user. */
export interface UserIdentity extends Identity {
  /** True if the user was created at the first sign-in with this identity. */
  readonly madeUser: boolean;
}

/** The user who signed in with an identity. */
export interface AcceptedIdentity {
  readonly found: UserWithSets;
  /** The user before this sign-in; undefined: the sign-in created the user. */
  readonly before: UserWithSets | undefined;
}
