import { LiveSessionFinder } from '../../administration/live-sessions.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn } from '../caller.ts';
import type { Endpoint } from '../endpoint.ts';
import { describeList } from '../lists/list-spec.ts';
import { endedReply, isCurrent, noteEnded, type SessionEndpointOptions } from './session-ends.ts';
import { createSessionPages } from './session-pages.ts';
import { otherSessionsQuery, ownSessionListSpec } from './session-schemas.ts';

/** `GET /api/self/sessions`: one page of the caller's own sessions. */
export function createOwnSessionList(options: SessionEndpointOptions, cursors: Cursors): Endpoint<'session'> {
  const pageFor = createSessionPages(options, cursors, ownSessionListSpec);
  return {
    method: 'GET',
    path: '/api/self/sessions',
    guard: 'session',
    handle: (request) => pageFor(request, request.principal.userId),
  };
}

/** `GET /api/self/sessions/filters`: what the list can be filtered and sorted by. */
export function createOwnSessionFilters(): Endpoint<'session'> {
  const body = describeList(ownSessionListSpec);
  return {
    method: 'GET',
    path: '/api/self/sessions/filters',
    guard: 'session',
    handle: async () => ({ status: 200, body }),
  };
}

/** `DELETE /api/self/sessions/{id}`: ends one of the caller's own sessions. */
export function createOwnSessionDelete(options: SessionEndpointOptions): Endpoint<'session'> {
  const { sessions, records } = options;
  const finder = new LiveSessionFinder(sessions, records);
  return {
    method: 'DELETE',
    path: '/api/self/sessions/{id}',
    guard: 'session',
    async handle({ exchange, principal, id }) {
      readQuery(exchange.query, noParameters);
      const found = await sessions.find(id);
      if (found?.userId !== principal.userId) throw new Refusal('not_found');
      const ended = await sessions.revoke(id);
      if (ended === undefined || !(await finder.isLive(ended))) throw new Refusal('not_found');
      noteEnded(options, callerIn({ exchange, principal }), [ended]);
      return endedReply(options, isCurrent(id, principal));
    },
  };
}

/** `DELETE /api/self/sessions/?others=true`: ends all of the caller's sessions except the one that makes the call. */
export function createOtherSessionsDelete(options: SessionEndpointOptions): Endpoint<'session'> {
  const { sessions } = options;
  return {
    method: 'DELETE',
    path: '/api/self/sessions',
    guard: 'session',
    async handle({ exchange, principal }) {
      readQuery(exchange.query, otherSessionsQuery, {
        judge: ({ others }) => (others ? [] : [othersMustBeTrue]),
      });
      const { userId, credentialId } = principal;
      const ended = await sessions.revokeAllOf(userId, credentialId);
      noteEnded(
        options,
        callerIn({ exchange, principal }),
        ended.map((id) => ({ id, userId })),
      );
      return { status: 204 };
    },
  };
}

/** The problem of a call that doesn't say which sessions to end. */
const othersMustBeTrue: ValidationProblem = {
  ...valueError('must be true'),
  loc: ['others'],
  input: 'false',
};
