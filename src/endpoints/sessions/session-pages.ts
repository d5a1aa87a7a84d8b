import type { Cursors } from '../../credentials/cursor.ts';
import type { Principal } from '../../credentials/principal.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Reply } from '../../http/reply.ts';
import type { SessionSortField } from '../../stores/session-query.ts';
import { createListRequests } from '../lists/list-request.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { LiveSessionFinder, positionOf, presentSession, storeQuery } from './live-sessions.ts';
import type { SessionEndpointOptions } from './session-ends.ts';

/** Creates what reads one page of live sessions for a request: all that pass its filters, or those of `userId` alone. */
export function createSessionPages(
  { sessions, records, holdings }: SessionEndpointOptions,
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
        present: (item) => presentSession(item, principal, shown),
      }),
    };
  };
}
