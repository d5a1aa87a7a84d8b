import type { Holdings } from '../credentials/holdings.ts';
import { Refusal } from '../errors.ts';
import type { CallerRef } from '../stores/caller.ts';
import type { InvitationFound } from '../stores/invitation-records.ts';
import { rightsOf } from './caller-rights.ts';
import { assertHolds } from './privilege.ts';

/**
 * The maker of an invitation, derived from the caller. The maker's session may end before the invitation is redeemed; the
 * invitation then counts as that session would, with whatever its user holds at that time.
 */
export function invitationMakerOf(ref: CallerRef): CallerRef {
  if (ref.kind !== 'session') return ref;
  const { session: _, ...maker } = ref;
  return maker;
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
    assertHolds(rightsOf(maker, holdings, now), holdings.mostOf(found), []);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
