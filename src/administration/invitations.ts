import type { Holdings } from '../credentials/holdings.ts';
import { Refusal } from '../errors.ts';
import type { CallerFound, CallerRef } from '../stores/caller.ts';
import type { InvitationFound } from '../stores/invitation-records.ts';
import { rightsOf } from './caller-rights.ts';
import { assertHolds } from './no-way-up.ts';

/**
 * The maker of an invitation, from the caller who makes it, whose session may end before the invitation is redeemed. A
 * session that was not narrowed counts as its user, whatever the user holds later; a narrowed one never counts for more
 * than it held.
 */
export function invitationMakerOf(ref: CallerRef, caller: CallerFound, holdings: Holdings): CallerRef {
  if (ref.kind !== 'session' || caller.kind !== 'session' || caller.user === undefined) return ref;
  const held = holdings.ofUser(caller.user).scopes;
  const isWhole = held.every((scope) => ref.scopes === null || ref.scopes.includes(scope));
  const { session: _, ...maker } = ref;
  return isWhole ? { ...maker, scopes: null, scopeSets: null } : maker;
}

/**
 * Whether an invitation still sets a password: its maker is enabled and holds all that the user holds now, and the user is
 * an enabled person whom the configuration does not manage. `now` is epoch ms.
 */
export function isRedeemable(
  { found, maker, expires }: InvitationFound,
  holdings: Holdings,
  now: number,
): boolean {
  const { kind, disabled, managed } = found.user;
  if (expires <= now || kind !== 'person' || disabled || managed) return false;
  try {
    assertHolds(rightsOf(maker, holdings, now), holdings.ofUser(found), []);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
