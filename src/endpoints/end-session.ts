import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import { actorOfSession } from '../log/log.ts';
import type { Session, Sessions } from '../stores/sessions.ts';
import { type Audit, actorOf } from './audit.ts';
import { type EndedSessionOptions, wasAlive } from './ended-session.ts';

/**
 * Ends a session whose token or cookie was presented; gives it if it was alive. `principal`: the caller by a token, or null for a
 * cookie alone. Rejects with `store_unavailable`.
 */
export type EndSession = (
  exchange: Exchange,
  id: string,
  principal: Principal | null,
) => Promise<Session | undefined>;

/** Creates what ends one's own session at a sign-out. */
export function createEndSession(options: {
  readonly sessions: Pick<Sessions, 'revoke'>;
  readonly records: EndedSessionOptions['records'];
  readonly audit: Audit;
  readonly onSessionEnded: (sessionId: string) => void;
}): EndSession {
  const { sessions, records, audit, onSessionEnded } = options;

  return async (exchange, id, principal) => {
    const ended = await sessions.revoke(id);
    onSessionEnded(id);
    if (ended === undefined || !(await wasAlive(records, ended))) return undefined;
    audit(exchange, {
      event: 'session_revoked',
      outcome: 'success',
      actor: principal === null ? actorOfSession(ended.userId, id) : actorOf(principal),
      subject: ended.userId,
      session: id,
    });
    return ended;
  };
}
