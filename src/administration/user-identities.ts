import type { Held } from '../credentials/holdings.ts';
import { Refusal } from '../errors.ts';
import type { Identity } from '../stores/identity.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { ChangeEvent } from './audit.ts';
import type { Caller } from './caller.ts';
import { endSessions, type SessionEndParts } from './sessions.ts';
import type { PartsWith } from './use-case.ts';
import { userEvent } from './user-events.ts';
import { assertMayChange, assertUnmanaged } from './users.ts';

/** An identity and the name of its provider. */
export interface ProviderIdentity extends Identity {
  readonly provider: string;
}

/**
 * Links an identity to a user, as whom it signs in from now on. Rejects with `not_found`, `insufficient_scope`, `managed`, and
 * `conflict` if the identity is linked already.
 */
export async function linkIdentity(
  parts: PartsWith<'linkUserIdentity' | 'findScopeSetByName'>,
  by: Caller,
  id: string,
  { provider, issuer, subject }: ProviderIdentity,
): Promise<void> {
  const grantable = await everythingGrantable(parts, issuer);
  const linked = await parts.records.linkUserIdentity(id, {
    caller: by.ref,
    decide(found, caller) {
      assertMayChange(parts, caller, found, grantable);
      assertUnmanaged(found);
      return { issuer, subject };
    },
    audit: parts.audit.withChange(by, eventOf('identity_linked', provider)),
  });
  if (linked === undefined) throw new Refusal('not_found');
}

/**
 * Unlinks an identity, and ends the user's sessions. Rejects with `not_found` if the user has no such identity,
 * `insufficient_scope`, `managed`, `last_administrator`.
 */
export async function unlinkIdentity(
  parts: PartsWith<'unlinkUserIdentity'> & SessionEndParts,
  by: Caller,
  id: string,
  { provider, issuer, subject }: ProviderIdentity,
): Promise<void> {
  const change = {
    caller: by.ref,
    decide(found: UserRecord, caller: Parameters<typeof assertMayChange>[1]) {
      assertMayChange(parts, caller, found);
      assertUnmanaged(found);
    },
    audit: parts.audit.withChange(by, eventOf('identity_unlinked', provider)),
  };
  const unlinked = await parts.records.unlinkUserIdentity(id, { issuer, subject }, change);
  if (unlinked === undefined) throw new Refusal('not_found');
  await endSessions(parts, by, id);
}

/** An id that no set has, in place of a set that a grant names but that doesn't exist yet. */
const missingSet = '';

/**
 * All rights that the issuer's providers can grant. A caller who links a subject decides whose account gets them, so the caller
 * must hold all of them, whatever the subject is granted today.
 */
async function everythingGrantable(
  { records, holdings }: PartsWith<'findScopeSetByName'>,
  issuer: string,
): Promise<Held> {
  const { scopes, setNames } = holdings.grantableBy(issuer);
  const found = await Promise.all(setNames.map((name) => records.findScopeSetByName(name)));
  const sets = found.filter((set) => set !== undefined);
  return {
    scopes: [...scopes, ...holdings.scopesOf(sets)],
    scopeSets: found.map((set) => set?.id ?? missingSet),
  };
}

function eventOf(event: ChangeEvent['event'], provider: string) {
  return (made: UserRecord) => [{ ...userEvent(event, made), provider, changes: { fields: ['identities'] } }];
}
