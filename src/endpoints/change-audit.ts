import type { Exchange } from '../http/exchange.ts';
import type { AuditEntry, Log } from '../log/log.ts';
import type { AuditOf } from '../stores/audit.ts';

/** What an endpoint says of a change; where the request came from is added to it. */
export type ChangeEntry = Omit<AuditEntry, 'id' | 'time' | 'address' | 'userAgent' | 'requestId'>;

/** The audit lines of a change over HTTP: kept in its transaction, then written to the log. */
export type ChangeAudit = <Result>(
  exchange: Exchange,
  entriesOf: (result: Result) => readonly ChangeEntry[],
) => AuditOf<Result>;

const maxUserAgentLength = 256;

/** Builds the audit of changes over the log. */
export function createChangeAudit(log: Pick<Log, 'audit'>): ChangeAudit {
  return ({ address, id: requestId, head }, entriesOf) => {
    const userAgent = head.userAgent === '' ? undefined : head.userAgent.slice(0, maxUserAgentLength);
    return {
      drafts: (result) => entriesOf(result).map((entry) => ({ ...entry, address, userAgent, requestId })),
      onWritten: (entries) => {
        for (const entry of entries) log.audit(entry);
      },
    };
  };
}
