import type { z } from 'zod';
import type { Audit } from '../../administration/audit.ts';
import type { Author } from '../../administration/caller.ts';
import { type OwnedSession, presentSession } from '../../administration/live-sessions.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import type { Principal } from '../../credentials/principal.ts';
import type { Reply } from '../../http/reply.ts';
import type { Records } from '../../stores/records.ts';
import type { Sessions } from '../../stores/sessions.ts';
import type { sessionRead } from './session-schemas.ts';

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

/** True if the caller presented that session. */
export function isCurrent(id: string, { kind, credentialId }: Principal): boolean {
  return kind === 'session' && credentialId === id;
}

/** A session as `SessionRead`, to the caller. */
export function presentTo(
  principal: Principal,
  found: OwnedSession,
  { holdings, hydrate }: { readonly holdings: Holdings; readonly hydrate: boolean },
): z.input<typeof sessionRead> {
  return {
    ...presentSession(found, { holdings, hydrate }),
    current: isCurrent(found.session.id, principal),
  };
}
