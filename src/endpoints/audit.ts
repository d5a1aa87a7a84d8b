import type { Exchange } from '../http/exchange.ts';
import type { AuditEntry, Log } from '../log.ts';

/** Writes an audit line about what an exchange did or tried. */
export type Audit = (exchange: Exchange, entry: Omit<AuditEntry, 'address' | 'requestId'>) => void;

/** Told of a sign-in that was judged; `method` is `password` or the provider's name. */
export type OnLogin = (method: string, outcome: AuditEntry['outcome']) => void;

/** Adds to each entry where the request came from and its id; tells of those that are sign-ins. */
export function createAudit(log: Log, onLogin: OnLogin): Audit {
  return (exchange, entry) => {
    log.audit({ ...entry, address: exchange.address, requestId: exchange.id });
    if (entry.event === 'login_succeeded' || entry.event === 'login_failed')
      onLogin(entry.provider ?? 'password', entry.outcome);
  };
}
