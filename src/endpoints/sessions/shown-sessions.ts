import { z } from 'zod';
import {
  LiveSessionFinder,
  type OwnedSession,
  positionOf,
  presentSession,
} from '../../administration/live-sessions.ts';
import { timestamp } from '../../administration/timestamp.ts';
import type { Principal } from '../../credentials/principal.ts';
import { ValidationError, type ValidationProblem } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import { booleanText } from '../../input/pydantic-types.ts';
import { parseUrlEncoded } from '../../input/url-encoded.ts';
import type { FieldFilter, ListQuery } from '../../stores/list-query.ts';
import type { SessionFilters, SessionQuery, SessionSortField } from '../../stores/sessions.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import { instantOperators, type ListField, type ListSpec } from '../lists/list-spec.ts';
import { createListRequests, pageFields } from '../lists/page.ts';

function hydrate() {
  return booleanText().prefault(true).describe('Shows `user` as an object instead of a bare id.');
}

/** Schema of the query of calls that return one session. */
export const sessionQuery = z.object({ hydrate: hydrate() });

/** Schema of a session in a response. */
export const sessionRead = z
  .object({
    id: z.string(),
    user: z
      .union([z.string(), z.object({ id: z.string(), username: z.string().nullable() })])
      .describe('An object with `hydrate=true`, the bare id otherwise.'),
    created: timestamp,
    last_used: timestamp.describe('Sign-in, refresh, or a request by the web cookie (to about a minute).'),
    expires: timestamp.describe('The nearer of idle and absolute end.'),
    method: z.string().describe("`password` or the provider's name."),
    scopes: z.array(z.string()).describe('What its next access token would hold.'),
    address: z.string(),
    user_agent: z.string().describe('At most 256 characters.'),
    current: z.boolean().describe('Whether it is the session that makes the call.'),
  })
  .meta({ id: 'SessionRead' });

/** Schema of a page of sessions. */
export const sessionPage = z
  .object(pageFields(sessionRead, 'Live sessions that pass the filters.'))
  .meta({ id: 'SessionCursorPage' });

const sortedOnly = 'Only together with `sort_by` of the same field.';
const rangeNotes = { gte: sortedOnly, gt: sortedOnly, lte: sortedOnly, lt: sortedOnly };
const fields: readonly ListField[] = [
  { name: 'method', type: 'string', operators: ['eq'], notes: { eq: "`password` or a provider's name." } },
  { name: 'created', type: 'datetime', operators: instantOperators, notes: rangeNotes },
  { name: 'last_used', type: 'datetime', operators: instantOperators, notes: rangeNotes },
];

/** Fields by which the caller's own sessions can be filtered and sorted. */
export const ownSessionListSpec: ListSpec<SessionSortField> = {
  name: 'own-sessions',
  fields,
  sortFields: ['created', 'last_used'],
  presentation: { hydrate: hydrate() },
};

/** Fields by which the sessions of all users can be filtered and sorted. */
export const sessionListSpec: ListSpec<SessionSortField> = {
  ...ownSessionListSpec,
  name: 'sessions',
  fields: [{ name: 'user', type: 'string', operators: ['eq'], notes: { eq: 'Id of the user.' } }, ...fields],
};

/** Creates the function that responds with a page of the live sessions that pass the filters, of everyone or of `userId`. */
export function createSessionPages(
  { sessions, records, holdings, cursors }: EndpointParts,
  spec: ListSpec<SessionSortField>,
): (request: { exchange: Exchange; principal: Principal }, userId?: string) => Promise<Reply> {
  const readRequest = createListRequests(spec, cursors);
  const finder = new LiveSessionFinder(sessions, records);
  return async ({ exchange, principal }, userId) => {
    const { parameters, query, body } = readRequest(exchange.query);
    const asked = storeQuery(query, exchange.query);
    const filters = userId === undefined ? asked.filters : { ...asked.filters, userId };
    const page = await finder.list({ ...asked, filters });
    const shown = { holdings, hydrate: parameters.hydrate as boolean };
    return {
      status: 200,
      body: body(page, {
        positionOf: (item) => positionOf(item, query.sortBy),
        present: (item) => presentTo(principal, item, shown),
      }),
    };
  };
}

/**
 * The query of a list as stores accept it: a range is possible only on the field by which the list is sorted. Throws
 * {@link ValidationError} for a range on another field.
 */
function storeQuery(
  { filters, ...query }: ListQuery<SessionSortField, readonly FieldFilter[]>,
  rawQuery: string | undefined,
): SessionQuery {
  const ranges = filters.filter(({ operator }) => operator !== 'eq');
  const others = ranges.filter(({ field }) => field !== query.sortBy);
  if (others.length > 0) throw new ValidationError(rangeProblems(others, rawQuery));
  const equal = new Map(
    filters.filter(({ operator }) => operator === 'eq').map(({ field, value }) => [field, value]),
  );
  const range = Object.fromEntries(ranges.map(({ operator, value }) => [operator, value]));
  return {
    ...query,
    filters: { userId: equal.get('user'), method: equal.get('method'), range } as SessionFilters,
  };
}

function rangeProblems(filters: readonly FieldFilter[], rawQuery = ''): readonly ValidationProblem[] {
  const { values } = parseUrlEncoded(rawQuery, 'query');
  return filters.map(({ field, operator }) => {
    const name = `${field}__${operator}`;
    const msg = 'Value error, only the field of sort_by has a range';
    return { type: 'value_error', loc: ['query', name], msg, input: values[name], ctx: { error: {} } };
  });
}

/** Response after ending sessions: 204, which clears the cookies if the caller's own session was one of them (`isOwn`). */
export function endedReply({ forgetting }: Pick<EndpointParts, 'forgetting'>, isOwn: boolean): Reply {
  return isOwn ? { status: 204, headers: forgetting } : { status: 204 };
}

/** True if the caller made the call with the session of that id. */
export function isCurrent(id: string, { kind, credentialId }: Principal): boolean {
  return kind === 'session' && credentialId === id;
}

/** A session in the form `SessionRead`; `current` is true for the caller's own. */
export function presentTo(
  principal: Principal,
  found: OwnedSession,
  shown: Parameters<typeof presentSession>[1],
): z.input<typeof sessionRead> {
  return { ...presentSession(found, shown), current: isCurrent(found.session.id, principal) };
}
