import type { Held, Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { CallerFound } from '../stores/caller.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import { admitsSession } from '../stores/session-epoch.ts';

/** Rights of the caller of a change by the presented credential, as of the change. */
export interface CallerRights {
  readonly scopes: ReadonlySet<string>;
  /** Ids of the sets that the credential may grant. */
  readonly scopeSets: ReadonlySet<string>;
  /** True for the operator's commands, and for administrators with an unrestricted credential: nothing is beyond them. */
  readonly holdsEverything: boolean;
}

const everything: CallerRights = { scopes: new Set(), scopeSets: new Set(), holdsEverything: true };

/**
 * Judges the caller of a change by what its transaction read. Refuses `invalid_token` and `invalid_api_key` when the
 * credential has ended since it was presented; `now` is epoch ms.
 */
export function rightsOf(caller: CallerFound, holdings: Holdings, now: number): CallerRights {
  switch (caller.kind) {
    case 'session': {
      const { ref, user: found } = caller;
      if (found === undefined || found.user.disabled) throw new Refusal('invalid_token');
      if (ref.session !== undefined && !admitsSession(found.user, ref.session))
        throw new Refusal('invalid_token');
      const held = holdings.ofUser(found, ref.origin ?? null);
      return rightsWith(within(ref.scopes, held.scopes), within(ref.scopeSets, held.scopeSets));
    }
    case 'api_key': {
      const found = caller.key;
      const hasEnded =
        found === undefined ||
        found.owner?.disabled === true ||
        (found.key.expires !== null && found.key.expires <= now);
      if (hasEnded) throw new Refusal('invalid_api_key');
      const { scopes, scopeSets } = holdings.ofKey(found);
      return rightsWith(new Set(scopes), new Set(scopeSets));
    }
    default:
      return everything;
  }
}

/** Rights that the presented credential gave its principal. */
export function rightsOfPrincipal({ held, scopeSets }: Principal): CallerRights {
  return {
    scopes: held,
    scopeSets: new Set(scopeSets),
    holdsEverything: scopeSets.includes(administratorSetId),
  };
}

/** Rights that a user with these holdings could grant. */
export function rightsOfUser({ scopes, scopeSets }: Held): CallerRights {
  return rightsWith(new Set(scopes), new Set(scopeSets));
}

function rightsWith(scopes: ReadonlySet<string>, scopeSets: ReadonlySet<string>): CallerRights {
  return { scopes, scopeSets, holdsEverything: scopeSets.has(administratorSetId) };
}

function within(presented: readonly string[] | null, held: readonly string[]): ReadonlySet<string> {
  const now = new Set(held);
  if (presented === null) return now;
  return new Set(presented.filter((name) => now.has(name)));
}
