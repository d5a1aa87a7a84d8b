import { nameOfGrant } from '../config/identity-providers.ts';
import type { IdentityProviderConfig } from '../config/schema.ts';
import type { ApiKeyWithOwner } from '../stores/api-key.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { IdentityGrants, UserHoldings, UserWithSets } from '../stores/user.ts';
import { heldScopes, intersectScopes } from './scopes.ts';

/** What a user or key holds now: scopes and the ids of sets, both sorted. */
export interface Held {
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
}

/** Evaluates stored users and keys under one configuration. */
export interface Holdings {
  /** What a user was given here, and what providers granted, as far as they are configured to grant it now. */
  ofUser(found: UserWithSets): Held;
  /** The part of it that providers grant: scopes as such, sets as sets. */
  fromProviders(found: UserWithSets): Held;
  /** A key's own scopes and sets, as far as its owner holds them now; all of them if the owner was removed. */
  ofKey(found: ApiKeyWithOwner): Held;
}

interface ConfiguredGrant {
  readonly name: string;
  readonly scopes: ReadonlySet<string>;
  /** By name. */
  readonly scopeSets: ReadonlySet<string>;
}

/** Creates the evaluation for a catalogue and the configured providers. */
export function createHoldings(
  catalogue: ReadonlySet<string>,
  providers: Readonly<Record<string, Pick<IdentityProviderConfig, 'issuer' | 'grants'>>>,
): Holdings {
  // The account is issuer and subject, so a provider is its issuer, whatever its name.
  const byIssuer = new Map<string, ConfiguredGrant[]>();
  for (const { issuer, grants } of Object.values(providers))
    byIssuer.set(issuer, [...(byIssuer.get(issuer) ?? []), ...grants.map(toConfiguredGrant)]);

  /** The part of what an identity was granted that the same grants still give. */
  function stillGranted(granted: IdentityGrants, sets: UserHoldings['sets']): Held {
    const grants = (byIssuer.get(granted.issuer) ?? []).filter(
      ({ name }) => granted.grants === null || granted.grants.includes(name),
    );
    return {
      scopes: granted.scopes.filter((scope) => grants.some((grant) => grant.scopes.has(scope))),
      scopeSets: sets
        .filter(({ id, name }) => granted.scopeSets.includes(id) && grants.some((g) => g.scopeSets.has(name)))
        .map(({ id }) => id),
    };
  }

  function heldBy({ scopes, scopeSets, grants, sets }: UserHoldings): Held {
    if (grants.length === 0) return { scopes: heldScopes(scopes, sets, catalogue), scopeSets };
    const granted = grants.map((identity) => stillGranted(identity, sets));
    const ids = new Set([...scopeSets, ...granted.flatMap((held) => held.scopeSets)]);
    const counted = sets.filter(({ id }) => ids.has(id));
    const all = [...scopes, ...granted.flatMap((held) => held.scopes)];
    return { scopes: heldScopes(all, counted, catalogue), scopeSets: [...ids].sort() };
  }

  function fromProviders({ grants, sets }: UserWithSets): Held {
    const none = { scopes: [], scopeSets: [] };
    const { scopeSets } = heldBy({ ...none, grants, sets });
    const scopes = grants.flatMap((identity) => stillGranted(identity, sets).scopes);
    return { scopes: heldScopes(scopes, [], catalogue), scopeSets };
  }

  return {
    fromProviders,
    ofUser: ({ user: { scopes, scopeSets }, grants, sets }) => heldBy({ scopes, scopeSets, grants, sets }),
    ofKey({ key, owner, sets }) {
      const scopes = heldScopes(key.scopes, sets, catalogue);
      const { scopeSets } = key;
      if (owner === null) return { scopes, scopeSets };
      const held = heldBy(owner);
      // A holder of the administrator set holds every scope and every other set.
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
