import type { Exchange } from '../http/exchange.ts';
import type { AuditEntry, Log } from '../log.ts';

/** Writes an audit line about what an exchange did or tried. */
export type Audit = (exchange: Exchange, entry: Omit<AuditEntry, 'address' | 'requestId'>) => void;

/** Adds to each entry where the request came from and its id. */
export function createAudit(log: Log): Audit {
  return (exchange, entry) => log.audit({ ...entry, address: exchange.address, requestId: exchange.id });
}
