import { nameOfGrant } from '../config/identity-providers.ts';
import type { IdentityProviderConfig } from '../config/schema.ts';
import type { ApiKeyWithOwner } from '../stores/api-key.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { IdentityGrants, UserHoldings, UserWithSets } from '../stores/user.ts';
import { heldScopes, intersectScopes } from './scopes.ts';

/** What somebody holds now: scopes and the ids of sets, both sorted. */
export interface Held {
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
}

/** Judges what is written of users and keys by one configuration. */
export interface Holdings {
  /** What a user holds: what was given here, and what providers granted as far as they are configured to grant it now. */
  ofUser(found: UserWithSets): Held;
  /** What a key holds: its own, as far as its owner holds it now. One that was kept when its owner was removed has its own. */
  ofKey(found: ApiKeyWithOwner): Held;
}

interface ConfiguredGrant {
  readonly name: string;
  readonly scopes: ReadonlySet<string>;
  /** By name. */
  readonly scopeSets: ReadonlySet<string>;
}

/** Builds the judge for a catalogue and the configured providers. */
export function createHoldings(
  catalogue: ReadonlySet<string>,
  providers: Readonly<Record<string, Pick<IdentityProviderConfig, 'issuer' | 'grants'>>>,
): Holdings {
  // The account is issuer and subject, so a provider is its issuer, whatever its name.
  const byIssuer = new Map<string, ConfiguredGrant[]>();
  for (const { issuer, grants } of Object.values(providers))
    byIssuer.set(issuer, [...(byIssuer.get(issuer) ?? []), ...grants.map(toConfiguredGrant)]);

  /** The part of what an identity was given that the same grants give still. */
  function counting(given: IdentityGrants, sets: UserHoldings['sets']): Held {
    const grants = (byIssuer.get(given.issuer) ?? []).filter(
      ({ name }) => given.grants === null || given.grants.includes(name),
    );
    return {
      scopes: given.scopes.filter((scope) => grants.some((grant) => grant.scopes.has(scope))),
      scopeSets: sets
        .filter(({ id, name }) => given.scopeSets.includes(id) && grants.some((g) => g.scopeSets.has(name)))
        .map(({ id }) => id),
    };
  }

  function heldBy({ scopes, scopeSets, grants, sets }: UserHoldings): Held {
    if (grants.length === 0) return { scopes: heldScopes(scopes, sets, catalogue), scopeSets };
    const granted = grants.map((given) => counting(given, sets));
    const ids = new Set([...scopeSets, ...granted.flatMap((held) => held.scopeSets)]);
    const counted = sets.filter(({ id }) => ids.has(id));
    const all = [...scopes, ...granted.flatMap((held) => held.scopes)];
    return { scopes: heldScopes(all, counted, catalogue), scopeSets: [...ids].sort() };
  }

  return {
    ofUser: ({ user: { scopes, scopeSets }, grants, sets }) => heldBy({ scopes, scopeSets, grants, sets }),
    ofKey({ key, owner, sets }) {
      const scopes = heldScopes(key.scopes, sets, catalogue);
      const { scopeSets } = key;
      if (owner === null) return { scopes, scopeSets };
      const held = heldBy(owner);
      // Whoever holds the administrator set holds every scope and every other set.
      if (held.scopeSets.includes(administratorSetId)) return { scopes, scopeSets };
      return {
        scopes: intersectScopes(scopes, held.scopes),
        scopeSets: scopeSets.filter((id) => held.scopeSets.includes(id)),
      };
    },
  };
}

function toConfiguredGrant(grant: IdentityProviderConfig['grants'][number]): ConfiguredGrant {
  return {
    name: nameOfGrant(grant),
    scopes: new Set(grant.scopes),
    scopeSets: new Set(grant.scope_sets),
  };
}
