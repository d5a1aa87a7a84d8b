import { uuidv7 } from 'uuidv7';
import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { auditEvents, type UnrecordedAuditEvent } from '../log/audit-events.ts';
import { type Actor, type AuditEntry, actorOfSession, anonymous, type Log, system } from '../log/log.ts';
import type { AuditQueue } from '../stores/audit-queue.ts';

/**
 * Audits what an exchange ended or failed at. The line is in the log at once; the event of what ended something is
 * stored in the records as soon as they accept it. What gives or changes something is audited by {@link
 * ./change-audit.ts}.
 */
export type Audit = (exchange: Exchange, entry: LooseEntry) => void;

type LooseEntry = Omit<AuditEntry, 'id' | 'time' | keyof AuditOrigin> & {
  readonly event: UnrecordedAuditEvent;
};

/** Where an audited request came from. */
export type AuditOrigin = Pick<AuditEntry, 'address' | 'userAgent' | 'requestId'>;

const maxUserAgentLength = 256;

/** What audit lines say of where a request came from. */
export function originOf({ address, id: requestId, head }: Exchange): AuditOrigin {
  const userAgent = head.userAgent === '' ? undefined : head.userAgent.slice(0, maxUserAgentLength);
  return { address, userAgent, requestId };
}

/** Who is calling, as audit lines name it: the user and the session or key that was presented. */
export function actorOf({ kind, userId, credentialId }: Principal): Actor {
  return kind === 'session'
    ? actorOfSession(userId, credentialId)
    : { user: userId, key: credentialId, kind: 'api_key' };
}

/** The entry of a session that Postern itself has ended. */
export function revokedBySystem(userId: string, session: string): LooseEntry {
  return { event: 'session_revoked', outcome: 'success', actor: system, subject: userId, session };
}

/** Called for every sign-in that was judged; `method` is `password` or the provider's name. */
export type OnLogin = (method: string, outcome: AuditEntry['outcome']) => void;

/** The same log of audit lines, which reports sign-ins to `onLogin`. */
export function reportingLogins(log: Pick<Log, 'audit'>, onLogin: OnLogin): Pick<Log, 'audit'> {
  return {
    audit(entry) {
      log.audit(entry);
      const isSignIn = entry.event === 'login_succeeded' || entry.event === 'login_failed';
      // A throttled attempt was not judged.
      if (isSignIn && entry.reason !== 'too_many_attempts')
        onLogin(entry.provider ?? 'password', entry.outcome);
    },
  };
}

/** Builds it over the log and the queue of the records; `now` is the clock, epoch ms. */
export function createAudit(
  log: Pick<Log, 'audit'>,
  queue: Pick<AuditQueue, 'add'>,
  now: () => number,
): Audit {
  return (exchange, entry) => {
    const { target, kept } = auditEvents[entry.event];
    const { session: id } = entry;
    const session = target === 'session' && id !== undefined ? { type: target, id } : undefined;
    const line = { ...entry, ...originOf(exchange), target: entry.target ?? session };
    if (kept !== 'afterwards') {
      log.audit(line);
      return;
    }
    const event = { ...line, id: uuidv7(), time: now() };
    log.audit(event);
    queue.add(event);
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
