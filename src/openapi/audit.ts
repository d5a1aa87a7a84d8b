import {
  auditEventPage,
  auditEventRead,
  auditListSpec,
} from '../endpoints/audit-events/audit-event-schemas.ts';
import type { Operation } from '../endpoints/endpoint.ts';
import { listQuerySchema } from '../endpoints/lists/list-spec.ts';
import { filtersOperation } from './list-filters.ts';

const list = '/api/admin/audit/';
const read = { scopes: ['audit:read'] } as const;

/** The operations on audit events. */
export const auditOperations: readonly Operation[] = [
  {
    id: 'Audit-List',
    summary: 'Lists audit events',
    description:
      'One page, in the order of commits. Ascending, `next_page` is never null, and following it gives every event once; `gap` says that some were dropped before they were read.',
    method: 'GET',
    path: list,
    guard: read,
    query: () => listQuerySchema(auditListSpec),
    success: { status: 200, description: 'A page of events.', schema: () => auditEventPage },
    refusals: ['invalid_cursor'],
  },
  filtersOperation('Audit-Filters', list, read),
  {
    id: 'Audit-Read',
    summary: 'Shows an audit event',
    description: 'As long as it is kept: see `audit` in the configuration.',
    method: 'GET',
    path: `${list}{id}`,
    guard: read,
    success: { status: 200, description: 'The event.', schema: () => auditEventRead },
    refusals: ['not_found'],
  },
];
