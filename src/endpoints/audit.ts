import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Actor, type AuditEntry, actorOfSession, anonymous, type Log } from '../log/log.ts';

/** Writes an audit line about what an exchange did or tried. */
export type Audit = (exchange: Exchange, entry: Omit<AuditEntry, 'address' | 'requestId'>) => void;

/** Who is calling, as audit lines name it: the user and the session or key that was presented. */
export function actorOf({ kind, userId, credentialId }: Principal): Actor {
  return kind === 'session'
    ? actorOfSession(userId, credentialId)
    : { user: userId, key: credentialId, kind: 'api_key' };
}

/** Told of a sign-in that was judged; `method` is `password` or the provider's name. */
export type OnLogin = (method: string, outcome: AuditEntry['outcome']) => void;

/** Adds to each entry where the request came from and its id; tells of those that are sign-ins. */
export function createAudit(log: Log, onLogin: OnLogin): Audit {
  return (exchange, entry) => {
    log.audit({ ...entry, address: exchange.address, requestId: exchange.id });
    const isSignIn = entry.event === 'login_succeeded' || entry.event === 'login_failed';
    // What a throttle turned away was not judged.
    if (isSignIn && entry.reason !== 'too_many_attempts')
      onLogin(entry.provider ?? 'password', entry.outcome);
  };
}

/** Gives what `attempt` gives; a throttle that turns it away is told in an audit line before it rejects. */
export async function auditingThrottle<T>(
  attempt: Promise<T>,
  audit: Audit,
  exchange: Exchange,
  event: 'login_failed' | 'activation_failed',
): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'too_many_attempts')
      audit(exchange, { event, outcome: 'failure', actor: anonymous, subject: null, reason: error.code });
    throw error;
  }
}
