import type { Holdings } from '../../credentials/holdings.ts';
import type { Principal } from '../../credentials/principal.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import type { Records } from '../../stores/records.ts';
import type { Sessions } from '../../stores/sessions.ts';
import { type Audit, actorOf } from '../audit.ts';
import type { ChangeAudit } from '../change-audit.ts';

/** What the endpoints of sessions need. */
export interface SessionEndpointOptions {
  readonly sessions: Sessions;
  readonly records: Records;
  readonly holdings: Holdings;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
  readonly audit: Audit;
  readonly changeAudit: ChangeAudit;
  /** Epoch ms. */
  readonly now: () => number;
  /** Ends everything that a session has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

/** Ends what these sessions have in flight, and audits that the caller ended them. */
export function noteEnded(
  { audit, onCredentialEnded }: SessionEndpointOptions,
  exchange: Exchange,
  principal: Principal,
  ended: readonly { readonly id: string; readonly userId: string }[],
): void {
  for (const { id, userId } of ended) {
    onCredentialEnded(id);
    audit(exchange, {
      event: 'session_revoked',
      outcome: 'success',
      actor: actorOf(principal),
      subject: userId,
      session: id,
      target: { type: 'session', id },
    });
  }
}

/** 204; clears the cookies if the session that makes the call is among those ended. */
export function endedReply({ forgetting }: SessionEndpointOptions, isOwn: boolean): Reply {
  return isOwn ? { status: 204, headers: forgetting } : { status: 204 };
}
