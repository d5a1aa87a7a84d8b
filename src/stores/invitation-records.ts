import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { CallerFound, CallerRef, JudgedChange } from './caller.ts';
import type { UserRecord } from './user-records.ts';

/** An invitation at rest: never its token, only the hash. Instants are epoch milliseconds. */
export interface NewInvitation {
  /** The SHA-256 of the token. */
  readonly hash: Uint8Array;
  /** The maker, who must still be able to grant everything that the user holds. */
  readonly maker: CallerRef;
  readonly created: number;
  readonly expires: number;
}

/** An invitation with everything it is judged by, read in one consistent step. */
export interface InvitationFound {
  /** The user who is invited. */
  readonly found: UserRecord;
  /** The maker as of now. */
  readonly maker: CallerFound;
  readonly expires: number;
}

/** The use of an invitation. */
export interface InvitationUse {
  /** Returns the hash of the new password. Pure; if it throws, the invitation stays as it was. */
  readonly decide: (found: InvitationFound) => string;
  readonly audit: AuditOf<UserRecord>;
}

/** The part of the records store about invitations: tokens by which a user sets a password once. */
export interface InvitationRecords {
  /** Invites a user; an earlier invitation of the user ends. Undefined when there is no such user. */
  inviteUser(
    id: string,
    change: JudgedChange<UserRecord, NewInvitation, UserRecord>,
  ): Promise<UserRecord | undefined>;
  findInvitation(hash: Uint8Array): Awaitable<InvitationFound | undefined>;
  /**
   * Removes the invitation, sets the password and, by the user's epoch, ends the sessions, in one step. Resolves to the user as
   * changed; undefined when there is no such invitation.
   */
  redeemInvitation(hash: Uint8Array, use: InvitationUse): Promise<UserRecord | undefined>;
}
