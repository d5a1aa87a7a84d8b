import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { actorOf } from '../../administration/caller.ts';
import { LiveSessionFinder } from '../../administration/live-sessions.ts';
import {
  endAllSessions,
  endSession,
  endSessionsOfUser,
  removeSessions,
  sessionsWrite,
} from '../../administration/sessions.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { missing, valueError } from '../../input/pydantic-problems.ts';
import { booleanText } from '../../input/pydantic-types.ts';
import { noParameters, readQuery } from '../../input/url-encoded.ts';
import { callerIn, originOf } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters, listQuerySchema } from '../lists/list-spec.ts';
import {
  createSessionPages,
  endedReply,
  isCurrent,
  ownSessionListSpec,
  presentTo,
  sessionListSpec,
  sessionPage,
  sessionQuery,
  sessionRead,
} from './shown-sessions.ts';

const otherSessionsQuery = z.strictObject({
  others: booleanText().describe('Must be `true`: ends all sessions except the one that makes the call.'),
});

const othersMustBeTrue: ValidationProblem = {
  ...valueError('must be true'),
  loc: ['others'],
  input: 'false',
};

const endedSessionsQuery = z.strictObject({
  user: z.string().optional().describe('Id of the user whose sessions end.'),
  all: booleanText().optional().describe("`true`: everyone's, one's own included; for administrators."),
});

const read = { scopes: ['sessions:read'] } as const;
const write = { scopes: sessionsWrite } as const;
/** Maximum time that a response waits for the session store to remove sessions that have already ended, ms. */
const maxRemovalMs = 1_000;

/** `GET /api/self/sessions/`: one page of the caller's own sessions. */
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
    const pageFor = createSessionPages(parts, ownSessionListSpec);
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

/** `GET /api/admin/sessions/`: one page of all live sessions. */
export const sessionsList: EndpointDefinition = {
  id: 'Sessions-List',
  method: 'GET',
  path: '/api/admin/sessions/',
  guard: read,
  summary: 'Lists the sessions of all users',
  description:
    'One page of the live sessions. All filters must hold; a range is possible only on the field of `sort_by`.',
  query: () => listQuerySchema(sessionListSpec),
  success: { status: 200, description: 'A page of sessions.', schema: () => sessionPage },
  refusals: ['invalid_cursor'],

  create(parts) {
    const pageFor = createSessionPages(parts, sessionListSpec);
    return (request) => pageFor(request);
  },
};

/** `GET /api/admin/sessions/filters`: the fields by which the list is filtered and sorted. */
export const sessionsFilters = defineFilters('Sessions-Filters', sessionsList, () => sessionListSpec);

/** `GET /api/admin/sessions/{id}`: one live session. */
export const sessionsRead: EndpointDefinition = {
  id: 'Sessions-Read',
  method: 'GET',
  path: '/api/admin/sessions/{id}',
  guard: read,
  summary: 'Shows a session',
  description: 'A session that has ended is 404.',
  query: () => sessionQuery,
  success: { status: 200, description: 'The session.', schema: () => sessionRead },
  refusals: ['not_found'],

  create({ sessions, records, holdings }) {
    const finder = new LiveSessionFinder(sessions, records);
    return async ({ exchange, principal, id }) => {
      const { hydrate } = readQuery(exchange.query, sessionQuery);
      const found = await finder.find(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentTo(principal, found, { holdings, hydrate }) };
    };
  },
};

/** `DELETE /api/admin/sessions/{id}`: ends a session, even of someone who holds more than the caller. */
export const sessionsDelete: EndpointDefinition = {
  id: 'Sessions-Delete',
  method: 'DELETE',
  path: '/api/admin/sessions/{id}',
  guard: write,
  summary: 'Ends a session',
  description:
    'Even of someone who holds more than the caller. Ending the session that makes the call clears the cookie.',
  query: () => noParameters,
  success: { status: 204, description: 'Ended.', headers: ['Set-Cookie'] },
  refusals: ['not_found'],

  create(parts) {
    const { sessions } = parts;
    return async ({ exchange, principal, id }) => {
      readQuery(exchange.query, noParameters);
      // The id of another kind of credential, such as a key, must not end that credential's open requests.
      if ((await sessions.find(id)) === undefined) throw new Refusal('not_found');
      const ended = await endSession(parts, id, originOf(exchange), () => ({ actor: actorOf(principal) }));
      if (ended === undefined) throw new Refusal('not_found');
      return endedReply(parts, isCurrent(id, principal));
    };
  },
};

/** `DELETE /api/admin/sessions/?user=<id>` or `?all=true`: ends the sessions of a user, or everyone's. */
export const sessionsDeleteAll: EndpointDefinition = {
  id: 'Sessions-DeleteAll',
  method: 'DELETE',
  path: '/api/admin/sessions/',
  guard: write,
  summary: "Ends a user's sessions, or everyone's",
  description: "`user` or `all=true`, which is for administrators. Ending one's own clears the cookie.",
  query: () => endedSessionsQuery,
  success: { status: 204, description: 'Ended, also where there were none.', headers: ['Set-Cookie'] },
  refusals: [],

  create(parts) {
    return async ({ exchange, principal }) => {
      const userId = whoseSessions(exchange.query);
      const by = callerIn({ exchange, principal });
      if (userId !== null) await endSessionsOfUser(parts, by, userId);
      else {
        const { removed } = await endAllSessions(parts, by);
        // With very many sessions, the rest is removed after the response.
        await Promise.race([removed, sleep(maxRemovalMs, undefined, { ref: false })]);
      }
      const isOwn = principal.kind === 'session' && (userId === null || userId === principal.userId);
      return endedReply(parts, isOwn);
    };
  },
};

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
