import { actorOf } from '../../administration/caller.ts';
import { endSession, removeSessions } from '../../administration/sessions.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn, originOf } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { listQuerySchema } from '../lists/list-spec.ts';
import { createSessionPages } from './session-pages.ts';
import { endedReply, isCurrent } from './session-replies.ts';
import { otherSessionsQuery, ownSessionListSpec, sessionPage } from './session-schemas.ts';

/** `GET /api/self/sessions`: one page of the caller's own sessions. */
export const sessionsListOwn: EndpointDefinition<'session'> = {
  id: 'Sessions-ListOwn',
  method: 'GET',
  path: '/api/self/sessions/',
  guard: 'session',
  summary: "Lists the caller's own sessions",
  description: 'One page of the live sessions. Requires a session; API keys are refused.',
  query: () => listQuerySchema(ownSessionListSpec),
  success: { status: 200, description: 'A page of sessions.', schema: () => sessionPage },
  refusals: ['invalid_cursor'],

  create(parts) {
    const pageFor = createSessionPages(parts, parts.cursors, ownSessionListSpec);
    return (request) => pageFor(request, request.principal.userId);
  },
};

/** `GET /api/self/sessions/filters`: the fields by which the list is filtered and sorted. */
export const sessionsFiltersOwn = defineFilters(
  'Sessions-FiltersOwn',
  sessionsListOwn,
  () => ownSessionListSpec,
);

/** `DELETE /api/self/sessions/{id}`: ends one of the caller's own sessions. */
export const sessionsDeleteOwn: EndpointDefinition<'session'> = {
  id: 'Sessions-DeleteOwn',
  method: 'DELETE',
  path: '/api/self/sessions/{id}',
  guard: 'session',
  summary: "Ends one of the caller's own sessions",
  description: 'Ending the session that makes the call clears the cookie.',
  query: () => noParameters,
  success: { status: 204, description: 'Ended.', headers: ['Set-Cookie'] },
  refusals: ['not_found'],

  create(parts) {
    const { sessions } = parts;
    return async ({ exchange, principal, id }) => {
      readQuery(exchange.query, noParameters);
      const found = await sessions.find(id);
      if (found?.userId !== principal.userId) throw new Refusal('not_found');
      const ended = await endSession(parts, id, originOf(exchange), () => ({ actor: actorOf(principal) }));
      if (ended === undefined) throw new Refusal('not_found');
      return endedReply(parts, isCurrent(id, principal));
    };
  },
};

/** `DELETE /api/self/sessions/?others=true`: ends all of the caller's sessions except the one that makes the call. */
export const sessionsDeleteOthers: EndpointDefinition<'session'> = {
  id: 'Sessions-DeleteOthers',
  method: 'DELETE',
  path: '/api/self/sessions/',
  guard: 'session',
  summary: "Ends the caller's other sessions",
  description: 'All except the session that makes the call. `others=true` is required.',
  query: () => otherSessionsQuery,
  success: { status: 204, description: 'Ended, also where there were none.' },
  refusals: [],

  create(parts) {
    return async ({ exchange, principal }) => {
      readQuery(exchange.query, otherSessionsQuery, {
        judge: ({ others }) => (others ? [] : [othersMustBeTrue]),
      });
      const { userId, credentialId } = principal;
      await removeSessions(parts, callerIn({ exchange, principal }), userId, credentialId);
      return { status: 204 };
    };
  },
};

/** The problem of a call that doesn't say which sessions to end. */
const othersMustBeTrue: ValidationProblem = {
  ...valueError('must be true'),
  loc: ['others'],
  input: 'false',
};
