import { z } from 'zod';
import { afterAnyId, presentAuditEvent } from '../administration/audit.ts';
import { timestamp } from '../administration/timestamp.ts';
import { Refusal } from '../errors.ts';
import { recordedAddress } from '../http/client-address.ts';
import type { AuditPage, AuditQuery } from '../stores/audit.ts';
import type { EndpointDefinition } from './endpoint.ts';
import { defineFilters, instantOperators, type ListSpec, listQuerySchema } from './lists/list-spec.ts';
import { createListRequests, type PageStarts, pageFields } from './lists/page.ts';

const auditListSpec: ListSpec<'time'> = {
  name: 'audit',
  fields: [
    { name: 'event', type: 'string', operators: ['eq'] },
    { name: 'outcome', type: 'string', operators: ['eq'], values: ['success', 'failure'] },
    {
      name: 'actor',
      type: 'string',
      operators: ['eq'],
      notes: { eq: 'Id of the user, session or key that acted.' },
    },
    { name: 'target', type: 'string', operators: ['eq'], notes: { eq: 'Id of what was changed.' } },
    {
      name: 'address',
      type: 'string',
      operators: ['eq'],
      notes: { eq: 'In any spelling. Counted refusals from IPv6 have the address of the /64 block.' },
      spelled: recordedAddress,
    },
    { name: 'request_id', type: 'string', operators: ['eq'] },
    { name: 'time', type: 'datetime', operators: instantOperators },
  ],
  sortFields: ['time'],
  sortNote: 'The order of commits. Ascending, `next_page` is never null: following it is an exact feed.',
};

const differences = z.object({ added: z.array(z.string()), removed: z.array(z.string()) });

const auditEventRead = z
  .object({
    id: z.string(),
    time: timestamp.describe('Never less than that of an earlier event.'),
    event: z.string(),
    outcome: z.enum(['success', 'failure']),
    actor: z.object({
      user: z.string().nullable(),
      session: z.string().optional(),
      key: z.string().optional(),
      kind: z.enum([
        'session',
        'api_key',
        'command_line',
        'configuration',
        'provider',
        'system',
        'anonymous',
      ]),
    }),
    target: z
      .object({
        type: z.string(),
        id: z.string(),
        label: z.string().optional().describe('The label of a key, kept when the key is deleted.'),
      })
      .nullable(),
    changes: z
      .object({
        fields: z.array(z.string()).optional().describe('Names of what was changed, never values.'),
        scopes: differences.optional(),
        scope_sets: differences.optional().describe('Ids of scope sets.'),
      })
      .nullable(),
    reason: z.string().nullable().describe('The code of a refusal.'),
    address: z.string().nullable(),
    user_agent: z.string().nullable().describe('At most 256 characters.'),
    request_id: z.string().nullable(),
    count: z.int().optional().describe('Of refusals: how many the event stands for, from `first` to `last`.'),
    first: timestamp.optional(),
    last: timestamp.optional(),
  })
  .meta({ id: 'AuditEvent' });

const auditEventPage = z
  .object({
    ...pageFields(auditEventRead, 'Events that pass the filters.'),
    gap: z
      .boolean()
      .describe('Ascending: events after the cursor are no longer kept; the page begins with the oldest.'),
  })
  .meta({ id: 'AuditEventCursorPage' });

/** `GET /api/admin/audit/`: one page of audit events. In ascending order, `next_page` leads through all events, each once. */
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

/** `GET /api/admin/audit/filters`: the fields by which the list is filtered and sorted. */
export const auditFilters = defineFilters('Audit-Filters', auditList, () => auditListSpec);

/** The starts of an ascending page. `next` is never null: on the last page, it is the place after the last event ever written. */
function endless(starts: PageStarts, { last }: AuditPage): PageStarts {
  const end = { from: { value: last, id: afterAnyId }, inclusive: false, backwards: false };
  return { ...starts, next: starts.next ?? end };
}

/** True if, in ascending order, events after the cursor have been dropped. */
function hasGap({ sortOrder, from, inclusive, backwards }: AuditQuery, { dropped }: AuditPage): boolean {
  if (sortOrder !== 'asc' || backwards || from === undefined) return false;
  const position = from.value as number;
  return inclusive ? position <= dropped : position < dropped;
}

/** `GET /api/admin/audit/{id}`: one audit event. */
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
