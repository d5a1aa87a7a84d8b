import type { AuditEvent } from '../stores/audit.ts';
import { toTimestamp } from './timestamp.ts';

/** Sorts after the id of any event of the same number. */
export const afterAnyId = '~';

/** An audit event as `AuditEvent`. */
export function presentAuditEvent(event: AuditEvent) {
  const { repeated } = event;
  return {
    id: event.id,
    time: toTimestamp(event.time),
    event: event.event,
    outcome: event.outcome,
    actor: event.actor,
    target: event.target,
    changes: event.changes,
    reason: event.reason ?? null,
    address: event.address,
    user_agent: event.userAgent ?? null,
    request_id: event.requestId,
    ...(repeated !== undefined && {
      count: repeated.count,
      first: toTimestamp(repeated.first),
      last: toTimestamp(repeated.last),
    }),
  };
}
