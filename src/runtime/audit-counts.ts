import { Refusal } from '../errors.ts';
import type { Counts, MetricsRegistry } from '../metrics/registry.ts';
import type { AuditOf } from '../stores/audit.ts';
import { recordsOperations, wrapCalls } from '../stores/operations.ts';
import type { Records } from '../stores/records.ts';

/** Counts of audit events by outcome; `refused` counts changes that failed because their events could not be kept. */
export type AuditCounts = Counts<'written' | 'refused' | 'lost'>;

/** Adds the metric of audit events. */
export function addAuditCounts(registry: MetricsRegistry): AuditCounts {
  return registry.counts(
    'outcome',
    'audit_events_total',
    'Audit events by outcome: written to the records, refused (with the change they are about), lost (only in the log).',
    ['written', 'refused', 'lost'],
  );
}

/** Wraps the records to count the events that audited changes have written, and the changes that were refused. */
export function countAudited(records: Records, counts: AuditCounts): Records {
  return wrapCalls(records, recordsOperations, (call, operation) => {
    if (operation !== 'write') return call;
    return (...args) => {
      const audited = args.map((arg) => withCountedAudit(arg, counts));
      const result = call(...audited);
      if (result instanceof Promise && audited.some((arg, index) => arg !== args[index]))
        result.catch((error) => {
          if (error instanceof Refusal && error.code === 'store_unavailable') counts.refused++;
        });
      return result;
    };
  });
}

/** Wraps an argument that is an audit, or has one as `audit`, to count the events written; returns others unchanged. */
function withCountedAudit(arg: unknown, counts: AuditCounts): unknown {
  if (isAudit(arg)) return countedAudit(arg, counts);
  if (typeof arg !== 'object' || arg === null || !('audit' in arg) || !isAudit(arg.audit)) return arg;
  return { ...arg, audit: countedAudit(arg.audit, counts) };
}

function isAudit(value: unknown): value is AuditOf<unknown> {
  return typeof value === 'object' && value !== null && 'drafts' in value && 'onWritten' in value;
}

function countedAudit(audit: AuditOf<unknown>, counts: AuditCounts): AuditOf<unknown> {
  return {
    ...audit,
    onWritten(entries) {
      counts.written += entries.length;
      audit.onWritten(entries);
    },
  };
}
