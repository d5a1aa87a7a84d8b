import { invitationHash, invitationLifetimeMs, mintInvitation } from '../credentials/invitation-token.ts';
import type { AddressThrottle } from '../credentials/throttle.ts';
import { isRefusal, Refusal } from '../errors.ts';
import type { CallerRef } from '../stores/caller.ts';
import type { InvitationFound } from '../stores/invitation-records.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { type Audit, auditingThrottle } from './audit.ts';
import { type Author, assertHolds, type Caller, rightsOf } from './caller.ts';
import { endSessions, type SessionEndParts } from './sessions.ts';
import type { PartsWith, UseCaseParts } from './use-case.ts';
import { userEvent } from './user-events.ts';
import { assertMayChange, assertUnmanaged } from './users.ts';

/**
 * Invites a user who holds no more than the caller; an earlier invitation of the user becomes invalid. Resolves to the token with
 * which the user sets a password, shown only once, and to its expiry, epoch ms. Rejects with `not_found`, `insufficient_scope`,
 * `managed`, and `conflict` for a service.
 */
export async function inviteUser(
  parts: PartsWith<'inviteUser'>,
  by: Caller,
  id: string,
): Promise<{ readonly token: string; readonly expires: number }> {
  const { records, audit, now, random } = parts;
  const { token, hash } = mintInvitation(random);
  const created = now();
  const expires = created + invitationLifetimeMs;
  const invited = await records.inviteUser(id, {
    caller: by.ref,
    decide(found, caller) {
      assertMayChange(parts, caller, found);
      assertUnmanaged(found);
      // Such an invitation could never be redeemed: a service never signs in.
      if (found.user.kind === 'service') throw new Refusal('conflict');
      return { hash, maker: invitationMakerOf(by.ref), created, expires };
    },
    audit: audit.withChange(by, (made: UserRecord) => [userEvent('invitation_created', made)]),
  });
  if (invited === undefined) throw new Refusal('not_found');
  return { token, expires };
}

/**
 * The maker of an invitation: the caller, but without a particular session, which may end before the invitation is redeemed. What
 * the maker may give is judged by the rights that the maker's user holds then.
 */
function invitationMakerOf(ref: CallerRef): CallerRef {
  if (ref.kind !== 'session') return ref;
  const { session: _, ...maker } = ref;
  return maker;
}

/**
 * The invited user. Called before any other problem is reported, because without a valid token nothing more may be learned. All
 * invalid invitations (unknown, used, expired, …) are refused alike. Rejects with `invalid_invitation`, `too_many_attempts`.
 */
export async function requireInvited(
  parts: PartsWith<'findInvitation'> & { readonly tokenThrottles: { readonly invitation: AddressThrottle } },
  by: Author,
  token: string,
  address: string,
): Promise<UserRecord> {
  const { records, tokenThrottles, audit } = parts;
  const counted = tokenThrottles.invitation.attempt(address);
  const attempt = await auditingThrottle(counted, audit, by, 'invitation_failed');
  const invitation = await records.findInvitation(invitationHash(token));
  if (invitation === undefined || !isRedeemable(invitation, parts))
    throw refused(audit, by, invitation?.found.user.id);
  await attempt.giveBack();
  return invitation.found;
}

/** Sets the password of the invited user, once; the user's sessions end. Rejects with `invalid_invitation`. */
export async function redeemInvitation(
  parts: PartsWith<'redeemInvitation'> & SessionEndParts,
  by: Author,
  token: string,
  passwordHash: string,
): Promise<void> {
  const { records, audit } = parts;
  const use = {
    // Anything may have changed while the password was hashed.
    decide(invitation: InvitationFound) {
      if (isRedeemable(invitation, parts)) return passwordHash;
      throw new Refusal('invalid_invitation');
    },
    audit: audit.withChange(by, (made: UserRecord) => [
      { ...userEvent('invitation_redeemed', made), changes: { fields: ['password'] } },
    ]),
  };
  const redeemed = await records.redeemInvitation(invitationHash(token), use).catch((error: unknown) => {
    if (!isRefusal(error, 'invalid_invitation')) throw error;
  });
  if (!redeemed) throw refused(audit, by);
  await endSessions(parts, by, redeemed.user.id);
}

function refused(audit: Audit, by: Author, userId: string | null = null): Refusal {
  audit.record(by, { event: 'invitation_failed', outcome: 'failure', subject: userId });
  return new Refusal('invalid_invitation');
}

/**
 * True if an invitation can still be redeemed: it hasn't expired, its maker is enabled and holds all that the user holds now, and
 * the user is an enabled person whom the configuration does not manage.
 */
function isRedeemable({ found, maker, expires }: InvitationFound, { holdings, now }: UseCaseParts): boolean {
  const { kind, disabled, managed } = found.user;
  const instant = now();
  if (expires <= instant || kind !== 'person' || disabled || managed) return false;
  try {
    assertHolds(rightsOf(maker, holdings, instant), holdings.mostOf(found), []);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
