import { LiveSessionFinder } from '../../administration/live-sessions.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { missing, valueError } from '../../input/pydantic-problems.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn } from '../caller.ts';
import type { Endpoint } from '../endpoint.ts';
import { describeList } from '../lists/list-spec.ts';
import { endEveryones, endThoseOf } from './end-all.ts';
import { endedReply, isCurrent, noteEnded, presentTo, type SessionEndpointOptions } from './session-ends.ts';
import { createSessionPages } from './session-pages.ts';
import { endedSessionsQuery, sessionListSpec, sessionQuery } from './session-schemas.ts';

const read = { scopes: ['sessions:read'] } as const;
const write = { scopes: ['sessions:write'] } as const;

/** `GET /api/admin/sessions/`: one page of all live sessions. */
export function createSessionList(options: SessionEndpointOptions, cursors: Cursors): Endpoint {
  const pageFor = createSessionPages(options, cursors, sessionListSpec);
  return {
    method: 'GET',
    path: '/api/admin/sessions',
    guard: read,
    handle: (request) => pageFor(request),
  };
}

/** `GET /api/admin/sessions/filters`: what the list can be filtered and sorted by. */
export function createSessionFilters(): Endpoint {
  const body = describeList(sessionListSpec);
  return {
    method: 'GET',
    path: '/api/admin/sessions/filters',
    guard: read,
    handle: async () => ({ status: 200, body }),
  };
}

/** `GET /api/admin/sessions/{id}`. */
export function createSessionRead({ sessions, records, holdings }: SessionEndpointOptions): Endpoint {
  const finder = new LiveSessionFinder(sessions, records);
  return {
    method: 'GET',
    path: '/api/admin/sessions/{id}',
    guard: read,
    async handle({ exchange, principal, id }) {
      const { hydrate } = readQuery(exchange.query, sessionQuery);
      const found = await finder.find(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentTo(principal, found, { holdings, hydrate }) };
    },
  };
}

/** `DELETE /api/admin/sessions/{id}`: ends a session, even of someone who holds more than the caller. */
export function createSessionDelete(options: SessionEndpointOptions): Endpoint {
  const { sessions, records } = options;
  const finder = new LiveSessionFinder(sessions, records);
  return {
    method: 'DELETE',
    path: '/api/admin/sessions/{id}',
    guard: write,
    async handle({ exchange, principal, id }) {
      readQuery(exchange.query, noParameters);
      const ended = await sessions.revoke(id);
      if (ended === undefined || !(await finder.isLive(ended))) throw new Refusal('not_found');
      noteEnded(options, callerIn({ exchange, principal }), [ended]);
      return endedReply(options, isCurrent(id, principal));
    },
  };
}

/** `DELETE /api/admin/sessions/?user=<id>` or `?all=true`: ends the sessions of a user, or everyone's. */
export function createSessionsDelete(options: SessionEndpointOptions): Endpoint {
  return {
    method: 'DELETE',
    path: '/api/admin/sessions',
    guard: write,
    async handle({ exchange, principal }) {
      const userId = whoseSessions(exchange.query);
      const by = callerIn({ exchange, principal });
      if (userId === null) await endEveryones(options, by);
      else await endThoseOf(userId, options, by);
      const isOwn = principal.kind === 'session' && (userId === null || userId === principal.userId);
      return endedReply(options, isOwn);
    },
  };
}

/** The id of the user whose sessions end; null: everyone's. Throws ValidationError unless either `user` or `all` is given. */
function whoseSessions(rawQuery: string | undefined): string | null {
  const { user } = readQuery(rawQuery, endedSessionsQuery, {
    judge: (parameters): readonly ValidationProblem[] => {
      // A malformed parameter doesn't count as missing.
      if (!('all' in parameters)) return [];
      if (parameters.user !== undefined && parameters.all)
        return [{ ...valueError('not together with user'), loc: ['all'], input: 'true' }];
      if (parameters.user === undefined && !parameters.all)
        return [{ ...missing, loc: ['user'], input: null }];
      return [];
    },
  });
  return user ?? null;
}
