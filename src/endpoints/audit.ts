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

/** Called for every sign-in that was judged; `method` is `password` or the provider's name. */
export type OnLogin = (method: string, outcome: AuditEntry['outcome']) => void;

/** Adds the request's address and id to each entry, and reports sign-ins to `onLogin`. */
export function createAudit(log: Log, onLogin: OnLogin): Audit {
  return (exchange, entry) => {
    log.audit({ ...entry, address: exchange.address, requestId: exchange.id });
    const isSignIn = entry.event === 'login_succeeded' || entry.event === 'login_failed';
    // A throttled attempt was not judged.
    if (isSignIn && entry.reason !== 'too_many_attempts')
      onLogin(entry.provider ?? 'password', entry.outcome);
  };
}

/** Resolves as `attempt` does; a refusal by the throttle gets an audit line before this rejects. */
export async function auditingThrottle<T>(
  attempt: Promise<T>,
  audit: Audit,
  exchange: Exchange,
  event: 'login_failed' | 'activation_failed' | 'invitation_failed',
): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'too_many_attempts')
      audit(exchange, { event, outcome: 'failure', actor: anonymous, subject: null, reason: error.code });
    throw error;
  }
}
