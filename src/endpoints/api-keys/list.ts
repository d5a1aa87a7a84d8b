import type { Cursors } from '../../credentials/cursor.ts';
import { readQuery } from '../../http/query.ts';
import type { ApiKeyQuery, ApiKeyWithOwner, Records } from '../../stores/records.ts';
import type { Endpoint } from '../endpoint.ts';
import { listQuery } from './api-key-schemas.ts';
import { filtersOf, type PageStart, pageCursors, positionOf } from './list-page.ts';
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

  /** Whether anything lies beyond `edge`: asked again, for keys come and go. */
  async function goesOn(query: ApiKeyQuery, edge: ApiKeyWithOwner, backwards: boolean): Promise<boolean> {
    const from = positionOf(edge, query.sortBy);
    const page = await records.listApiKeys({ ...query, from, inclusive: false, backwards, size: 1 });
    return page.items.length > 0;
  }

  return {
    method: 'GET',
    path: '/api/admin/api-keys',
    guard: { scopes: ['apikeys:read'] },
    async answer({ exchange }) {
      const asked = readQuery(exchange.query, schema);
      const pages = pageCursors(cursors, asked);
      const start = pages.read(asked.cursor);
      const query: ApiKeyQuery = {
        sortBy: asked.sort_by,
        sortOrder: asked.sort_order,
        filters: filtersOf(asked),
        ...start,
        size: asked.size,
        now: now(),
      };
      const { items, total, more } = await records.listApiKeys(query);
      const first = items[0];
      const last = items.at(-1);
      const at = (item: ApiKeyWithOwner | undefined, inclusive: boolean, backwards: boolean): PageStart =>
        item === undefined
          ? { ...start, backwards }
          : { from: positionOf(item, asked.sort_by), inclusive, backwards };
      const before =
        first !== undefined &&
        (start.backwards ? more : start.from !== undefined && (await goesOn(query, first, true)));
      const after = last !== undefined && (start.backwards ? await goesOn(query, last, false) : more);
      return {
        status: 200,
        body: {
          items: items.map((item) =>
            presentApiKey(item, { hydrate: asked.hydrate, now: query.now, catalogue }),
          ),
          total,
          current_page: pages.write(at(first, true, false)),
          current_page_backwards: pages.write(at(last, true, true)),
          previous_page: before ? pages.write(at(first, false, true)) : null,
          next_page: after ? pages.write(at(last, false, false)) : null,
        },
      };
    },
  };
}
