import { nameOfGrant } from '../config/sections/identity-providers.ts';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import type { ApiKeyWithOwner } from '../stores/api-key.ts';
import { administratorSetId, type ScopeSet } from '../stores/scope-set.ts';
import type { SessionOrigin } from '../stores/session-origin.ts';
import type { IdentityGrants, UserHoldings, UserWithSets } from '../stores/user.ts';
import { heldScopes, intersectScopes } from './scopes.ts';

/** Current rights of a user or key: scopes and ids of scope sets, both sorted. */
export interface Held {
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
}

/** Evaluates stored users and keys under one configuration. */
export interface Holdings {
  /**
   * The user's rights in a session that began at `origin`, and in keys minted in it: the user's own rights, and those that the
   * provider granted to that identity, as far as provider and grant are still configured. If `origin` is null (a sign-in without
   * a provider), only the user's own.
   */
  ofUser(found: UserWithSets, origin: SessionOrigin | null): Held;
  /** All rights that the user can have by any sign-in; they decide who may change the user. */
  mostOf(found: UserWithSets): Held;
  /** The part of {@link mostOf} that providers grant; the scopes of granted sets are not included in `scopes`. */
  fromProviders(found: UserWithSets): Held;
  /** The key's own scopes and sets, as far as its owner holds them now; all of them if the owner was removed. */
  ofKey(found: ApiKeyWithOwner): Held;
  /**
   * Names, sorted, of the sets of a caller's holder by which a service may know the caller: those whose every scope the caller
   * has, `scopes`. A caller that may have fewer scopes than its holder (`isRestricted`) is not known by a set without any.
   */
  namesOf(
    sets: readonly ScopeSet[],
    held: Pick<Held, 'scopeSets'>,
    scopes: readonly string[],
    isRestricted: boolean,
  ): readonly string[];
  /** All rights named by the configured grants of an issuer: scopes, and sets by name. */
  grantableBy(issuer: string): { readonly scopes: readonly string[]; readonly setNames: readonly string[] };
  /** The scopes that these sets give now. */
  scopesOf(sets: readonly ScopeSet[]): readonly string[];
}

interface ConfiguredGrant {
  readonly name: string;
  readonly scopes: ReadonlySet<string>;
  /** Names of scope sets. */
  readonly scopeSets: ReadonlySet<string>;
}

interface ConfiguredProvider {
  readonly name: string;
  readonly grants: readonly ConfiguredGrant[];
}

const none: Held = Object.freeze({ scopes: Object.freeze([]), scopeSets: Object.freeze([]) });

/** Creates the evaluation for a catalogue and the configured providers. */
export function createHoldings(
  catalogue: ReadonlySet<string>,
  providers: Readonly<Record<string, Pick<IdentityProviderConfig, 'issuer' | 'grants'>>>,
): Holdings {
  const byIssuer = new Map<string, ConfiguredProvider[]>();
  for (const [name, { issuer, grants: configured }] of Object.entries(providers)) {
    const grants = configured.map((grant) => ({
      name: nameOfGrant(grant),
      scopes: new Set(grant.scopes),
      scopeSets: new Set(grant.scope_sets),
    }));
    byIssuer.set(issuer, [...(byIssuer.get(issuer) ?? []), { name, grants }]);
  }

  /**
   * The provider of that name and issuer. If there is none, the only provider of the issuer, which must have been renamed:
   * accounts are identified by issuer and subject. Undefined if the issuer has none, or several.
   */
  function providerNamed(name: string, issuer: string): ConfiguredProvider | undefined {
    const ofIssuer = byIssuer.get(issuer) ?? [];
    return ofIssuer.find((one) => one.name === name) ?? (ofIssuer.length === 1 ? ofIssuer[0] : undefined);
  }

  function configuredBy(issuer: string): readonly ConfiguredGrant[] {
    return (byIssuer.get(issuer) ?? []).flatMap((provider) => provider.grants);
  }

  function grantedIn(origin: SessionOrigin, { grants, sets }: UserHoldings): readonly Held[] {
    const { issuer, subject } = origin;
    const provider = providerNamed(origin.provider, issuer);
    const granted = grants.find((one) => one.issuer === issuer && one.subject === subject);
    if (provider === undefined || granted === undefined) return [];
    // Another provider of the same issuer, trusted with other grants, may have granted the rights, so the names are compared. If
    // no provider has the origin's name any more, it was renamed, and only rights granted under its old name are its own.
    const isItsOwn =
      granted.provider === origin.provider ||
      (granted.provider === null && provider.name === origin.provider);
    return isItsOwn ? [stillGranted(granted, provider.grants, sets)] : [];
  }

  function grantedAnywhere({ grants, sets }: Pick<UserHoldings, 'grants' | 'sets'>): readonly Held[] {
    return grants.map((granted) => stillGranted(granted, configuredBy(granted.issuer), sets));
  }

  function together({ scopes, scopeSets, sets }: UserHoldings, granted: readonly Held[]): Held {
    const ids = new Set([...scopeSets, ...granted.flatMap((held) => held.scopeSets)]);
    const counted = sets.filter(({ id }) => ids.has(id));
    const all = [...scopes, ...granted.flatMap((held) => held.scopes)];
    return { scopes: heldScopes(all, counted, catalogue), scopeSets: [...ids].sort() };
  }

  function heldIn(holdings: UserHoldings, origin: SessionOrigin | null): Held {
    return together(holdings, origin === null ? [] : grantedIn(origin, holdings));
  }

  return {
    ofUser: (found, origin) => heldIn(holdingsOf(found), origin),
    mostOf: (found) => together(holdingsOf(found), grantedAnywhere(found)),
    fromProviders: (found) => together({ ...none, grants: [], sets: [] }, grantedAnywhere(found)),
    ofKey({ key, owner, sets }) {
      const scopes = heldScopes(key.scopes, sets, catalogue);
      const { scopeSets } = key;
      if (owner === null) return { scopes, scopeSets };
      const held = heldIn(owner, key.origin);
      // A holder of the administrator set holds every scope and every other set.
      if (held.scopeSets.includes(administratorSetId)) return { scopes, scopeSets };
      return {
        scopes: intersectScopes(scopes, held.scopes),
        scopeSets: scopeSets.filter((id) => held.scopeSets.includes(id)),
      };
    },
    namesOf: (sets, { scopeSets }, scopes, isRestricted) =>
      scopeSets.length === 0
        ? none.scopes
        : namesOfKnown(
            sets.filter(({ id }) => scopeSets.includes(id)),
            new Set(scopes),
            isRestricted,
            catalogue,
          ),
    scopesOf: (sets) => heldScopes([], sets, catalogue),
    grantableBy(issuer) {
      const grants = configuredBy(issuer);
      return {
        scopes: grants.flatMap((grant) => [...grant.scopes]),
        setNames: [...new Set(grants.flatMap((grant) => [...grant.scopeSets]))],
      };
    },
  };
}

/** Names of the held sets by which a service may know a caller with these scopes, see {@link Holdings.namesOf}. */
function namesOfKnown(
  held: readonly ScopeSet[],
  scopes: ReadonlySet<string>,
  isRestricted: boolean,
  catalogue: ReadonlySet<string>,
): readonly string[] {
  const isKnownBy = (set: ScopeSet) => {
    const given = heldScopes([], [set], catalogue);
    return given.every((scope) => scopes.has(scope)) && !(isRestricted && given.length === 0);
  };
  return held
    .filter(isKnownBy)
    .map(({ name }) => name)
    .sort();
}

function holdingsOf({ user: { scopes, scopeSets }, grants, sets }: UserWithSets): UserHoldings {
  return { scopes, scopeSets, grants, sets };
}

/** The rights granted to an identity that some of the configured grants still give. */
function stillGranted(
  granted: IdentityGrants,
  configured: readonly ConfiguredGrant[],
  sets: UserHoldings['sets'],
): Held {
  const grants = configured.filter(({ name }) => granted.grants === null || granted.grants.includes(name));
  return {
    scopes: granted.scopes.filter((scope) => grants.some((grant) => grant.scopes.has(scope))),
    scopeSets: sets
      .filter(({ id, name }) => granted.scopeSets.includes(id) && grants.some((g) => g.scopeSets.has(name)))
      .map(({ id }) => id),
  };
}
