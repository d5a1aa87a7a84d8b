import type { Audit } from '../administration/audit.ts';
import { actorOf } from '../administration/caller.ts';
import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import { type AuditEntry, actorOfSession } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import { isUnavailable } from '../stores/remote/breaker.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { Session, Sessions } from '../stores/sessions.ts';
import { authorIn } from './caller.ts';

/** Actor that ends a session, as its audit event states it. */
export type EndedBy = Pick<AuditEntry, 'actor' | 'provider'>;

/**
 * Ends a session, with all that it has open, and resolves to the session if it was alive. `by` names the actor, given the ended
 * session. Rejects with `store_unavailable`.
 */
export type EndSession = (
  exchange: Exchange,
  id: string,
  by: (ended: Session) => EndedBy,
) => Promise<Session | undefined>;

/** Creates the end of single sessions, for their users and for providers. */
export function createEndSession(options: {
  readonly sessions: Pick<Sessions, 'revoke'>;
  readonly records: Pick<Records, 'findUser'>;
  readonly audit: Audit;
  readonly onSessionEnded: (sessionId: string) => void;
}): EndSession {
  const { sessions, records, audit, onSessionEnded } = options;

  /** True if the records admit the session too, or are unavailable: the end of a session never waits for them. */
  async function wasAlive(ended: Session): Promise<boolean> {
    try {
      return admitsSession((await records.findUser(ended.userId))?.user, ended);
    } catch (error) {
      if (isUnavailable(error)) return true;
      throw error;
    }
  }

  return async (exchange, id, by) => {
    const ended = await sessions.revoke(id);
    onSessionEnded(id);
    if (ended === undefined || !(await wasAlive(ended))) return undefined;
    const { actor, provider } = by(ended);
    audit.record(authorIn(exchange, actor), {
      event: 'session_revoked',
      subject: ended.userId,
      session: id,
      provider,
    });
    return ended;
  };
}

/** Actor of a sign-out: the caller of a token, or the session itself by its cookie. */
export function byItsUser(principal: Principal | null): (ended: Session) => EndedBy {
  return ({ userId, id }) => ({
    actor: principal === null ? actorOfSession(userId, id) : actorOf(principal),
  });
}
