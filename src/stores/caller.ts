import type { ApiKeyWithOwner } from './api-key.ts';
import type { AuditOf } from './audit.ts';
import type { SessionOrigin } from './session-origin.ts';
import type { Session } from './sessions.ts';
import type { UserWithSets } from './user.ts';

/** The caller of a change, as authenticated. */
export type CallerRef =
  | {
      readonly kind: 'session';
      readonly userId: string;
      /** Absent for a change that may outlive the session in which its user began it: then only the user is judged. */
      readonly session?: Pick<Session, 'id' | 'epoch'>;
      /** The sign-in at a provider with which the session began; null or absent: none is known. */
      readonly origin?: SessionOrigin | null;
      /**
       * Scopes of a session that was restricted at its sign-in; null: it was not restricted, and has everything that its
       * user now holds.
       */
      readonly scopes: readonly string[] | null;
      /** Ids of the scope sets of a restricted session, which has none; null: it was not restricted. */
      readonly scopeSets: readonly string[] | null;
    }
  | { readonly kind: 'api_key'; readonly keyId: string }
  | { readonly kind: 'command_line' | 'configuration' };

/** The caller as read in the transaction of the change; a `user` or `key` that no longer exists is undefined. */
export type CallerFound =
  | {
      readonly kind: 'session';
      readonly ref: Extract<CallerRef, { kind: 'session' }>;
      readonly user: UserWithSets | undefined;
    }
  | { readonly kind: 'api_key'; readonly key: ApiKeyWithOwner | undefined }
  | { readonly kind: 'command_line' | 'configuration' };

/** A change that is judged by what its own transaction has read, so that nothing can change in between. */
export interface JudgedChange<Found, Decision, Result> {
  readonly caller: CallerRef;
  /** Decides on the change; pure. If it throws, the transaction is rolled back, and the change rejects with the error. */
  readonly decide: (found: Found, caller: CallerFound) => Decision;
  readonly audit: AuditOf<Result>;
}
