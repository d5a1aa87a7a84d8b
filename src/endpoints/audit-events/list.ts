import { afterAnyId, presentAuditEvent } from '../../administration/audit-events.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import type { AuditPage, AuditQuery, AuditRecords } from '../../stores/audit.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListRequests } from '../lists/list-request.ts';
import { describeList } from '../lists/list-spec.ts';
import type { PageStarts } from '../lists/page.ts';
import { auditListSpec } from './audit-event-schemas.ts';

/** `GET /api/admin/audit/`: one page of audit events; ascending, its next pages are an exact feed. */
export function createAuditList(records: Pick<AuditRecords, 'listAuditEvents'>, cursors: Cursors): Endpoint {
  const readRequest = createListRequests(auditListSpec, cursors);
  return {
    method: 'GET',
    path: '/api/admin/audit',
    guard: { scopes: ['audit:read'] },
    async handle({ exchange }) {
      const request = readRequest(exchange.query);
      const query = request.query as AuditQuery;
      const page = await records.listAuditEvents(query);
      const body = request.body(page, {
        positionOf: ({ seq, id }) => ({ value: seq, id }),
        present: presentAuditEvent,
        turn: (starts) => (query.sortOrder === 'asc' ? endless(starts, page) : starts),
      });
      return { status: 200, body: { ...body, gap: hasGap(query, page) } };
    },
  };
}

/** `GET /api/admin/audit/filters`: what the list can be filtered and sorted by. */
export function createAuditFilters(): Endpoint {
  const body = describeList(auditListSpec);
  return {
    method: 'GET',
    path: '/api/admin/audit/filters',
    guard: { scopes: ['audit:read'] },
    handle: async () => ({ status: 200, body }),
  };
}

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
