import type { JudgedChange } from './caller.ts';
import type { Identity } from './identity.ts';
import type { UserRecord } from './user-records.ts';

/** The part of the records store by which identities of users are administered. */
export interface UserIdentityRecords {
  /**
   * Links an identity to a user, as of now. Gives the user as found; undefined when there is none. Refuses `conflict` when
   * the identity is linked already, to whichever user.
   */
  linkUserIdentity(
    id: string,
    change: JudgedChange<UserRecord, Identity, UserRecord>,
  ): Promise<UserRecord | undefined>;
  /**
   * Unlinks an identity; all sessions of the user end by the user's epoch. Gives the user as found; undefined when there is
   * none who has it. Refuses `last_administrator`.
   */
  unlinkUserIdentity(
    id: string,
    identity: Identity,
    change: JudgedChange<UserRecord, void, UserRecord>,
  ): Promise<UserRecord | undefined>;
}
