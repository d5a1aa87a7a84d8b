/** Who somebody is at an identity provider (OpenID Connect Core §2: `iss` and `sub` together). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** What a provider says of somebody who signs in. */
export interface IdentityClaims extends Identity {
  readonly displayName: string | null;
  readonly email: string | null;
  /** What it grants, in place of what it granted before: scopes, sorted, and ids of sets. */
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  /** The names of the grants that give them; left out: not known. */
  readonly grants?: readonly string[];
}

/** A user to be made at a first sign-in, by the first of these names that is free. */
export interface NewIdentityUser {
  readonly id: string;
  readonly created: number;
  readonly names: readonly { readonly username: string; readonly canonicalName: string }[];
}

/** An identity of a user. */
export interface UserIdentity extends Identity {
  /** Whether the first sign-in made the user. */
  readonly madeUser: boolean;
}
