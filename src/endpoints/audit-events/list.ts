import { afterAnyId, presentAuditEvent } from '../../administration/audit-events.ts';
import type { AuditPage, AuditQuery } from '../../stores/audit.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { createListRequests } from '../lists/list-request.ts';
import { listQuerySchema } from '../lists/list-spec.ts';
import type { PageStarts } from '../lists/page.ts';
import { auditEventPage, auditListSpec } from './audit-event-schemas.ts';

/** `GET /api/admin/audit/`: one page of audit events; ascending, its next pages are an exact feed. */
export const auditList: EndpointDefinition = {
  id: 'Audit-List',
  method: 'GET',
  path: '/api/admin/audit/',
  guard: { scopes: ['audit:read'] },
  summary: 'Lists audit events',
  description:
    'One page, in the order of commits. Ascending, `next_page` is never null, and following it gives every event once; `gap` says that some were dropped before they were read.',
  query: () => listQuerySchema(auditListSpec),
  success: { status: 200, description: 'A page of events.', schema: () => auditEventPage },
  refusals: ['invalid_cursor'],

  create({ records, cursors }) {
    const readRequest = createListRequests(auditListSpec, cursors);
    return async ({ exchange }) => {
      const request = readRequest(exchange.query);
      const query = request.query as AuditQuery;
      const page = await records.listAuditEvents(query);
      const body = request.body(page, {
        positionOf: ({ seq, id }) => ({ value: seq, id }),
        present: presentAuditEvent,
        turn: (starts) => (query.sortOrder === 'asc' ? endless(starts, page) : starts),
      });
      return { status: 200, body: { ...body, gap: hasGap(query, page) } };
    };
  },
};

/** `GET /api/admin/audit/filters`: what the list can be filtered and sorted by. */
export const auditFilters = defineFilters('Audit-Filters', auditList, () => auditListSpec);

/** Past the last page comes what is not written yet: after the last number that was given, whatever the filters. */
function endless(starts: PageStarts, { last }: AuditPage): PageStarts {
  const end = { from: { value: last, id: afterAnyId }, inclusive: false, backwards: false };
  return { ...starts, next: starts.next ?? end };
}

/** Whether events were dropped that a feed would have had to show from its cursor on. */
function hasGap({ sortOrder, from, inclusive, backwards }: AuditQuery, { dropped }: AuditPage): boolean {
  if (sortOrder !== 'asc' || backwards || from === undefined) return false;
  const position = from.value as number;
  return inclusive ? position <= dropped : position < dropped;
}
