import { LiveSessionFinder, positionOf } from '../../administration/live-sessions.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import type { Principal } from '../../credentials/principal.ts';
import { ValidationError, type ValidationProblem } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import { parseUrlEncoded } from '../../input/url-encoded.ts';
import type { FieldFilter, ListQuery } from '../../stores/list-query.ts';
import type { SessionFilters, SessionQuery, SessionSortField } from '../../stores/sessions.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import { createListRequests } from '../lists/list-request.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { presentTo } from './session-replies.ts';

/** Creates what reads one page of live sessions for a request: all that pass its filters, or those of `userId` alone. */
export function createSessionPages(
  { sessions, records, holdings }: EndpointParts,
  cursors: Cursors,
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
 * The query of a list as stores accept it: with one range, of the field that the list is sorted by. Throws
 * {@link ValidationError} for a range of the other one.
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
