import type { ApiKeyFilters, ApiKeyPosition } from '../stores/api-key-query.ts';
import type { ListedApiKey } from '../stores/records.ts';
import type { Workplace } from './with-stores.ts';

const pageSize = 100;

/** Every key that passes the filters, newest first. */
export async function allKeysOf(
  { records, now }: Workplace,
  filters: ApiKeyFilters,
): Promise<readonly ListedApiKey[]> {
  const found: ListedApiKey[] = [];
  let from: ApiKeyPosition | undefined;
  for (;;) {
    const { items, after } = await records.listApiKeys({
      sortBy: 'created',
      sortOrder: 'desc',
      filters,
      from,
      size: pageSize,
      now: now(),
    });
    found.push(...items);
    const last = items.at(-1);
    if (!after || last === undefined) return found;
    from = { value: last.key.created, id: last.key.id };
  }
}
