import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { CallerFound, CallerRef, JudgedChange } from './caller.ts';
import type { UserRecord } from './user-records.ts';

/** An invitation as stored, with the hash of its token instead of the token. Instants are epoch milliseconds. */
export interface NewInvitation {
  /** The SHA-256 of the token. */
  readonly hash: Uint8Array;
  /** The maker, who must be able to grant everything that the user holds, even when the invitation is used. */
  readonly maker: CallerRef;
  readonly created: number;
  readonly expires: number;
}

/** An invitation with everything by which it is judged, read in one consistent step. */
export interface InvitationFound {
  /** The user who is invited. */
  readonly found: UserRecord;
  /** The maker as read in the same step. */
  readonly maker: CallerFound;
  readonly expires: number;
}

/** The use of an invitation. */
export interface InvitationUse {
  /** Returns the hash of the new password. Pure; if it throws, nothing changes, and the use rejects with the error. */
  readonly decide: (found: InvitationFound) => string;
  readonly audit: AuditOf<UserRecord>;
}

/** The part of the records store for invitations: tokens with which a user can set a password, once. */
export interface InvitationRecords {
  /** Invites a user, which ends an earlier invitation. Resolves to undefined when there is no such user. */
  inviteUser(
    id: string,
    change: JudgedChange<UserRecord, NewInvitation, UserRecord>,
  ): Promise<UserRecord | undefined>;
  findInvitation(hash: Uint8Array): Awaitable<InvitationFound | undefined>;
  /**
   * Removes the invitation, sets the password and ends the user's sessions by starting a new epoch, in one step. Resolves to the
   * changed user; undefined when there is no such invitation.
   */
  redeemInvitation(hash: Uint8Array, use: InvitationUse): Promise<UserRecord | undefined>;
}
