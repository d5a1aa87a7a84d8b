import type { Audit } from '../../administration/audit.ts';
import type { Author } from '../../administration/caller.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import type { Reply } from '../../http/reply.ts';
import type { Records } from '../../stores/records.ts';
import type { Sessions } from '../../stores/sessions.ts';

/** What the endpoints of sessions need. */
export interface SessionEndpointOptions {
  readonly sessions: Sessions;
  readonly records: Records;
  readonly holdings: Holdings;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
  /** Ends everything that a session has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

/** Ends what these sessions have in flight, and audits that the caller ended them. */
export function noteEnded(
  { audit, onCredentialEnded }: SessionEndpointOptions,
  by: Author,
  ended: readonly { readonly id: string; readonly userId: string }[],
): void {
  for (const { id, userId } of ended) {
    onCredentialEnded(id);
    audit.record(by, { event: 'session_revoked', subject: userId, session: id });
  }
}

/** 204; clears the cookies if the session that makes the call is among those ended. */
export function endedReply({ forgetting }: SessionEndpointOptions, isOwn: boolean): Reply {
  return isOwn ? { status: 204, headers: forgetting } : { status: 204 };
}
