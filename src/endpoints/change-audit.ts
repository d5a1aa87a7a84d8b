import type { Exchange } from '../http/exchange.ts';
import type { AuditEntry, Log } from '../log/log.ts';
import type { AuditOf } from '../stores/audit.ts';
import { originOf } from './audit.ts';

/** What an endpoint says of a change; where the request came from is added to it. */
export type ChangeEntry = Omit<AuditEntry, 'id' | 'time' | 'address' | 'userAgent' | 'requestId'>;

/** The audit lines of a change over HTTP: kept in its transaction, then written to the log. */
export type ChangeAudit = <Result>(
  exchange: Exchange,
  entriesOf: (result: Result) => readonly ChangeEntry[],
) => AuditOf<Result>;

/** Builds the audit of changes over the log. */
export function createChangeAudit(log: Pick<Log, 'audit'>): ChangeAudit {
  return (exchange, entriesOf) => {
    const origin = originOf(exchange);
    return {
      drafts: (result) => entriesOf(result).map((entry) => ({ ...entry, ...origin })),
      onWritten: (entries) => {
        for (const entry of entries) log.audit(entry);
      },
    };
  };
}
