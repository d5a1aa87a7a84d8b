import { presentAuditEvent } from '../../administration/audit-events.ts';
import { Refusal } from '../../errors.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { auditEventRead } from './audit-event-schemas.ts';

/** `GET /api/admin/audit/{id}`. */
export const auditRead: EndpointDefinition = {
  id: 'Audit-Read',
  method: 'GET',
  path: '/api/admin/audit/{id}',
  guard: { scopes: ['audit:read'] },
  summary: 'Shows an audit event',
  description: 'As long as it is kept: see `audit` in the configuration.',
  success: { status: 200, description: 'The event.', schema: () => auditEventRead },
  refusals: ['not_found'],

  create({ records }) {
    return async ({ id }) => {
      const event = await records.findAuditEvent(id);
      if (event === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentAuditEvent(event) };
    };
  },
};
