import type { Operation } from '../endpoints/endpoint.ts';
import { listQuerySchema } from '../endpoints/lists/list-spec.ts';
import { selfPassword } from '../endpoints/self-password.ts';
import {
  endedSessionsQuery,
  otherSessionsQuery,
  ownSessionListSpec,
  sessionListSpec,
  sessionPage,
  sessionQuery,
  sessionRead,
} from '../endpoints/sessions/session-schemas.ts';
import { noParameters } from '../input/query.ts';
import { filtersOperation } from './list-filters.ts';

const own = '/api/self/sessions/';
const all = '/api/admin/sessions/';
const read = { scopes: ['sessions:read'] } as const;
const write = { scopes: ['sessions:write'] } as const;

/** The operations on sessions. */
export const sessionOperations: readonly Operation[] = [
  {
    id: 'Sessions-ListOwn',
    summary: "Lists the caller's own sessions",
    description: 'One page of the live sessions. Requires a session; API keys are refused.',
    method: 'GET',
    path: own,
    guard: 'session',
    query: () => listQuerySchema(ownSessionListSpec),
    success: { status: 200, description: 'A page of sessions.', schema: () => sessionPage },
    refusals: ['invalid_cursor'],
  },
  {
    id: 'Sessions-DeleteOthers',
    summary: "Ends the caller's other sessions",
    description: 'All except the session that makes the call. `others=true` is required.',
    method: 'DELETE',
    path: own,
    guard: 'session',
    query: () => otherSessionsQuery,
    success: { status: 204, description: 'Ended, also where there were none.' },
    refusals: [],
  },
  selfPassword,
  filtersOperation('Sessions-FiltersOwn', own, 'session'),
  {
    id: 'Sessions-DeleteOwn',
    summary: "Ends one of the caller's own sessions",
    description: 'Ending the session that makes the call clears the cookie.',
    method: 'DELETE',
    path: `${own}{id}`,
    guard: 'session',
    query: () => noParameters,
    success: { status: 204, description: 'Ended.', headers: ['Set-Cookie'] },
    refusals: ['not_found'],
  },
  {
    id: 'Sessions-List',
    summary: 'Lists the sessions of all users',
    description:
      'One page of the live sessions. All filters must hold; a range is possible only on the field of `sort_by`.',
    method: 'GET',
    path: all,
    guard: read,
    query: () => listQuerySchema(sessionListSpec),
    success: { status: 200, description: 'A page of sessions.', schema: () => sessionPage },
    refusals: ['invalid_cursor'],
  },
  {
    id: 'Sessions-DeleteAll',
    summary: "Ends a user's sessions, or everyone's",
    description: "`user` or `all=true`, which is for administrators. Ending one's own clears the cookie.",
    method: 'DELETE',
    path: all,
    guard: write,
    query: () => endedSessionsQuery,
    success: { status: 204, description: 'Ended, also where there were none.', headers: ['Set-Cookie'] },
    refusals: [],
  },
  filtersOperation('Sessions-Filters', all, read),
  {
    id: 'Sessions-Read',
    summary: 'Shows a session',
    description: 'A session that has ended is 404.',
    method: 'GET',
    path: `${all}{id}`,
    guard: read,
    query: () => sessionQuery,
    success: { status: 200, description: 'The session.', schema: () => sessionRead },
    refusals: ['not_found'],
  },
  {
    id: 'Sessions-Delete',
    summary: 'Ends a session',
    description:
      'Even of someone who holds more than the caller. Ending the session that makes the call clears the cookie.',
    method: 'DELETE',
    path: `${all}{id}`,
    guard: write,
    query: () => noParameters,
    success: { status: 204, description: 'Ended.', headers: ['Set-Cookie'] },
    refusals: ['not_found'],
  },
];
