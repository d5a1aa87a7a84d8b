import type { Cursors } from '../../credentials/cursor.ts';
import { readQuery } from '../../input/query.ts';
import type { Records } from '../../stores/records.ts';
import type { Endpoint } from '../endpoint.ts';
import { listQuery } from './api-key-schemas.ts';
import { filtersOf, pageCursors, pageStarts } from './list-page.ts';
import { presentApiKey } from './present-api-key.ts';

/** `GET /api/admin/api-keys/`: one page of the keys, with the cursors of its neighbours. */
export function createApiKeyList(options: {
  readonly records: Pick<Records, 'listApiKeys'>;
  readonly cursors: Cursors;
  readonly catalogue: ReadonlySet<string>;
  readonly now: () => number;
}): Endpoint {
  const { records, cursors, catalogue, now } = options;
  const schema = listQuery([...catalogue].sort());

  return {
    method: 'GET',
    path: '/api/admin/api-keys',
    guard: { scopes: ['apikeys:read'] },
    async handle({ exchange }) {
      const asked = readQuery(exchange.query, schema);
      const pages = pageCursors(cursors, asked);
      const start = pages.read(asked.cursor);
      const { from, inclusive, backwards, limit } = start;
      const instant = now();
      const page = await records.listApiKeys({
        sortBy: asked.sort_by,
        sortOrder: asked.sort_order,
        filters: filtersOf(asked),
        from,
        inclusive,
        backwards,
        size: Math.min(asked.size, limit ?? asked.size),
        now: instant,
      });
      const { current, currentBackwards, previous, next } = pageStarts(
        page,
        start,
        asked.size,
        asked.sort_by,
      );
      const shown = { hydrate: asked.hydrate, now: instant, catalogue };
      return {
        status: 200,
        body: {
          items: page.items.map((item) => presentApiKey(item, shown)),
          total: page.total,
          current_page: pages.write(current),
          current_page_backwards: pages.write(currentBackwards),
          previous_page: previous && pages.write(previous),
          next_page: next && pages.write(next),
        },
      };
    },
  };
}
