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
      /** The sign-in at a provider that the session began with. Absent: none is known. */
      readonly origin?: SessionOrigin | null;
      /**
       * Scopes of a session that was restricted at its sign-in; null: it was not restricted, and has everything that its
       * user holds now.
       */
      readonly scopes: readonly string[] | null;
      /** Null as `scopes` is. A restricted session can't grant sets. */
      readonly scopeSets: readonly string[] | null;
    }
  | { readonly kind: 'api_key'; readonly keyId: string }
  | { readonly kind: 'command_line' | 'configuration' };

/** The caller as of the change, read in its transaction; undefined members no longer exist. */
export type CallerFound =
  | {
      readonly kind: 'session';
      readonly ref: Extract<CallerRef, { kind: 'session' }>;
      readonly user: UserWithSets | undefined;
    }
  | { readonly kind: 'api_key'; readonly key: ApiKeyWithOwner | undefined }
  | { readonly kind: 'command_line' | 'configuration' };

/** A change that is judged on what is read in its own transaction, so that nothing can change in between. */
export interface JudgedChange<Found, Decision, Result> {
  readonly caller: CallerRef;
  /** Pure. An error rolls the transaction back, and the change rejects with it. */
  readonly decide: (found: Found, caller: CallerFound) => Decision;
  readonly audit: AuditOf<Result>;
}
