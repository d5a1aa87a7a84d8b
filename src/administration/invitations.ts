import type { Holdings } from '../credentials/holdings.ts';
import { invitationHash, invitationLifetimeMs, mintInvitation } from '../credentials/invitation-token.ts';
import { Refusal } from '../errors.ts';
import type { CallerRef } from '../stores/caller.ts';
import type { InvitationFound, InvitationRecords } from '../stores/invitation-records.ts';
import type { UserRecord } from '../stores/user-records.ts';
import type { Audit } from './audit.ts';
import type { Author, Caller } from './caller.ts';
import { rightsOf } from './caller-rights.ts';
import { assertHolds } from './privilege.ts';
import { endSessions, type SessionEndParts } from './sessions.ts';
import { userEvent } from './user-events.ts';
import { assertMayChange, assertUnmanaged, type UserRights } from './users.ts';

/** Dependencies of {@link inviteUser}. */
export interface InvitingParts extends UserRights {
  readonly records: Pick<InvitationRecords, 'inviteUser'>;
  readonly audit: Audit;
  readonly random: (byteCount: number) => Uint8Array;
}

/** A new invitation. */
export interface Invitation {
  /** The token by which the user sets a password, shown this once. */
  readonly token: string;
  /** Epoch ms. */
  readonly expires: number;
}

/**
 * Invites a user who holds no more than the caller; an earlier invitation of the user ends. Rejects `not_found`,
 * `insufficient_scope`, `managed`, and `conflict` for a service.
 */
export async function inviteUser(parts: InvitingParts, by: Caller, id: string): Promise<Invitation> {
  const { records, audit, now, random } = parts;
  const { token, hash } = mintInvitation(random);
  const created = now();
  const expires = created + invitationLifetimeMs;
  const invited = await records.inviteUser(id, {
    caller: by.ref,
    decide(found, caller) {
      assertMayChange(parts, caller, found);
      assertUnmanaged(found);
      // It could never be redeemed: a service never signs in.
      if (found.user.kind === 'service') throw new Refusal('conflict');
      return { hash, maker: invitationMakerOf(by.ref), created, expires };
    },
    audit: audit.withChange(by, (made: UserRecord) => [userEvent('invitation_created', made)]),
  });
  if (invited === undefined) throw new Refusal('not_found');
  return { token, expires };
}

/**
 * The maker of an invitation, derived from the caller. The maker's session may end before the invitation is redeemed; the
 * invitation then counts as that session would, with whatever its user holds at that time.
 */
function invitationMakerOf(ref: CallerRef): CallerRef {
  if (ref.kind !== 'session') return ref;
  const { session: _, ...maker } = ref;
  return maker;
}

/** Dependencies of {@link redeemInvitation}. */
export interface RedeemingParts extends UserRights, SessionEndParts {
  readonly records: Pick<InvitationRecords, 'redeemInvitation'>;
}

/** Sets the password of the invited user, once; the user's sessions end. Rejects `invalid_invitation`. */
export async function redeemInvitation(
  parts: RedeemingParts,
  by: Author,
  token: string,
  passwordHash: string,
): Promise<void> {
  const { records, holdings, audit, now } = parts;
  const redeemed = await records.redeemInvitation(invitationHash(token), {
    // Anything may have changed while the password was hashed.
    decide(invitation) {
      if (isRedeemable(invitation, holdings, now())) return passwordHash;
      throw new Refusal('invalid_invitation');
    },
    audit: audit.withChange(by, (made: UserRecord) => [
      { ...userEvent('invitation_redeemed', made), changes: { fields: ['password'] } },
    ]),
  });
  if (redeemed === undefined) throw new Refusal('invalid_invitation');
  await endSessions(parts, by, redeemed.user.id);
}

/**
 * True if an invitation still sets a password: its maker is enabled and holds all that the user holds now, and the user is
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
