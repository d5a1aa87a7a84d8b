import type { Held, Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import { missingScopes, sortedDistinct } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import {
  type Actor,
  type AuditEntry,
  actorOfSession,
  commandLine,
  configuration,
  system,
} from '../log/log.ts';
import type { CallerFound, CallerRef } from '../stores/caller.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import { admitsSession } from '../stores/session-epoch.ts';

/** The author of an audit event. */
export interface Author {
  readonly actor: Actor;
  /** User name of the actor, if it is known. */
  readonly name?: string | null;
  /** Origin of the request. */
  readonly origin: Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>;
}

/** The caller of a use case, whom each change judges again in its transaction. */
export interface Caller extends Author {
  readonly ref: CallerRef;
}

const noRequest: Author['origin'] = { address: null, requestId: null };

/** The operator who runs a command, with every right: anyone who can open the stores could change them without Postern. */
export const operator: Caller = { ref: { kind: 'command_line' }, actor: commandLine, origin: noRequest };

/** The configuration, as the caller that applies its users and scope sets to the records. */
export const configured: Caller = { ref: { kind: 'configuration' }, actor: configuration, origin: noRequest };

/** Postern itself: the author of changes that no request asked for. */
export const automatic: Author = { actor: system, origin: noRequest };

/** The caller of a request, identified by the session or key that was presented. */
export function callerOf(principal: Principal, origin: Author['origin']): Caller {
  return { ref: refOf(principal), actor: actorOf(principal), name: principal.username, origin };
}

/** The actor of a request: the user, and the session or key that was presented. */
export function actorOf({ kind, userId, credentialId }: Principal): Actor {
  return kind === 'session'
    ? actorOfSession(userId, credentialId)
    : { user: userId, key: credentialId, kind: 'api_key' };
}

function refOf(principal: Principal): CallerRef {
  const { kind, userId, credentialId, epoch, origin, isRestricted } = principal;
  if (kind === 'api_key') return { kind, keyId: credentialId };
  const allowed = isRestricted
    ? { scopes: principal.scopes, scopeSets: [] }
    : { scopes: null, scopeSets: null };
  return { kind, userId, session: { id: credentialId, epoch }, origin, ...allowed };
}

/** Rights of a change's caller, limited to those of the presented credential, as of the change. */
export interface CallerRights {
  readonly scopes: ReadonlySet<string>;
  /** Ids of the sets that the credential may grant. */
  readonly scopeSets: ReadonlySet<string>;
  /** True for commands, for the configuration, and for administrators with an unrestricted credential: no right is missing. */
  readonly holdsEverything: boolean;
}

const everything: CallerRights = { scopes: new Set(), scopeSets: new Set(), holdsEverything: true };

/**
 * Rights of a change's caller by the records that its transaction read. Refuses with `invalid_token` or `invalid_api_key` if the
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
      return rightsOfHeld({
        scopes: within(ref.scopes, held.scopes),
        scopeSets: within(ref.scopeSets, held.scopeSets),
      });
    }
    case 'api_key': {
      const found = caller.key;
      const hasEnded =
        found === undefined ||
        found.owner?.disabled === true ||
        (found.key.expires !== null && found.key.expires <= now);
      if (hasEnded) throw new Refusal('invalid_api_key');
      return rightsOfHeld(holdings.ofKey(found));
    }
    default:
      return everything;
  }
}

/** Rights of a caller who holds these scopes and sets. */
export function rightsOfHeld({ scopes, scopeSets }: HeldScopes): CallerRights {
  return {
    scopes: new Set(scopes),
    scopeSets: new Set(scopeSets),
    holdsEverything: scopeSets.includes(administratorSetId),
  };
}

type HeldScopes = Pick<Held, 'scopeSets'> & { readonly scopes: Iterable<string> };

function within(presented: readonly string[] | null, held: readonly string[]): readonly string[] {
  return presented === null ? held : presented.filter((name) => held.includes(name));
}

/** Rights that a call grants, or that the user to be changed holds. */
export interface Wanted extends Held {
  /** The scopes of the sets, if `scopes` doesn't include them; a refusal names them in place of a missing set. */
  readonly setScopes?: readonly string[];
}

/**
 * Refuses with `insufficient_scope`, naming the missing scopes, unless the caller holds every wanted scope and the wanted sets
 * themselves, because a set may grow. `needed` are the scopes that the call itself requires. Used for the rights that a call
 * grants, and for those of a user that it changes: a caller who could change a user with more rights could gain them.
 */
export function assertHolds(
  rights: CallerRights,
  { scopes, scopeSets, setScopes = scopes }: Wanted,
  needed: readonly string[],
): void {
  if (rights.holdsEverything) return;
  const wanted = [...needed, ...scopes];
  const missing = missingScopes(wanted, rights.scopes);
  const holdsSets = scopeSets.every((id) => rights.scopeSets.has(id));
  if (missing.length === 0 && holdsSets) return;
  // Instead of a missing set, its scopes are named, even if the caller holds them: the name of a set stays private.
  const named = [missing, missingScopes(setScopes, rights.scopes), setScopes, wanted].find(
    (names) => names.length > 0,
  );
  throw new Refusal('insufficient_scope', {
    missingScopes: sortedDistinct(named ?? []),
    neededScopes: sortedDistinct(wanted),
  });
}
