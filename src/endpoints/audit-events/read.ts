import { presentAuditEvent } from '../../administration/audit-events.ts';
import { Refusal } from '../../errors.ts';
import type { AuditRecords } from '../../stores/audit.ts';
import type { Endpoint } from '../endpoint.ts';

/** `GET /api/admin/audit/{id}`. */
export function createAuditRead(records: Pick<AuditRecords, 'findAuditEvent'>): Endpoint {
  return {
    method: 'GET',
    path: '/api/admin/audit/{id}',
    guard: { scopes: ['audit:read'] },
    async handle({ id }) {
      const event = await records.findAuditEvent(id);
      if (event === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentAuditEvent(event) };
    },
  };
}
