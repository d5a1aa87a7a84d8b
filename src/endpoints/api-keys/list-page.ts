import { z } from 'zod';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import type { ApiKeyFilters, ApiKeyPosition, ApiKeySortField } from '../../stores/api-key-query.ts';
import type { ApiKeyPage, ListedApiKey } from '../../stores/records.ts';
import type { ListQuery } from './api-key-schemas.ts';

/** Where a page starts: after (or, inclusive, at) a position, forwards or backwards; without one, at the first end. */
export interface PageStart {
  readonly from?: ApiKeyPosition;
  readonly inclusive: boolean;
  readonly backwards: boolean;
  /** Items at most, whatever the `size`: what was a short page stays the page it was. */
  readonly limit?: number;
}

const cursorPayload = z.strictObject({
  v: z.union([z.string(), z.number(), z.null()]).optional(),
  i: z.string().optional(),
  at: z.boolean(),
  back: z.boolean(),
  n: z.number().optional(),
});

/** The cursors of one list: opaque, bound to its sort and filters, free of `size` and `hydrate`. */
export interface PageCursors {
  read(text: string | undefined): PageStart;
  write(start: PageStart): string;
}

/** What a page's cursors are bound to: every parameter that changes the order or the choice of items. */
export function pageCursors(cursors: Cursors, query: ListQuery): PageCursors {
  const { size: _size, hydrate: _hydrate, cursor: _cursor, ...bound } = query;
  const binding = JSON.stringify([
    'api-keys',
    Object.entries(bound)
      .filter(([, value]) => value !== undefined)
      .sort(),
  ]);
  return {
    read(text) {
      if (text === undefined) return { inclusive: false, backwards: false };
      const payload = cursorPayload.safeParse(cursors.read(text, binding));
      if (!payload.success) throw new Refusal('invalid_cursor');
      const { v, i, at, back, n } = payload.data;
      const from = i === undefined ? undefined : { value: v ?? null, id: i };
      return { ...(from && { from }), inclusive: at, backwards: back, limit: n };
    },
    write({ from, inclusive, backwards, limit }) {
      const payload = { v: from?.value, i: from?.id, at: inclusive, back: backwards, n: limit };
      return cursors.write(payload, binding);
    },
  };
}

/** Where a page and its neighbours start; null where the list ends. */
export interface PageStarts {
  readonly current: PageStart;
  /** The same items, read from the other end. */
  readonly currentBackwards: PageStart;
  readonly previous: PageStart | null;
  readonly next: PageStart | null;
}

/** The starts around a page that was read from `start` with room for `size` items. */
export function pageStarts(
  page: ApiKeyPage,
  start: PageStart,
  size: number,
  sortBy: ApiKeySortField,
): PageStarts {
  const { items, before, after } = page;
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) {
    // Its items went away: the page stays where it was, and what is left lies on the other side of that place.
    const { from, inclusive, backwards } = start;
    const rest = { from, inclusive: !inclusive, backwards: !backwards };
    return {
      current: start,
      currentBackwards: start,
      previous: before ? rest : null,
      next: after ? rest : null,
    };
  }
  const limit = items.length < size ? items.length : undefined;
  const [top, bottom] = [positionOf(first, sortBy), positionOf(last, sortBy)];
  return {
    current: { from: top, inclusive: true, backwards: false, limit: after ? limit : undefined },
    currentBackwards: { from: bottom, inclusive: true, backwards: true, limit: before ? limit : undefined },
    previous: before ? { from: top, inclusive: false, backwards: true } : null,
    next: after ? { from: bottom, inclusive: false, backwards: false } : null,
  };
}

/** The place of an item in the order of `sortBy`. */
function positionOf({ key }: ListedApiKey, sortBy: ApiKeySortField): ApiKeyPosition {
  switch (sortBy) {
    case 'label':
      return { value: key.label, id: key.id };
    case 'expires':
      return { value: key.expires, id: key.id };
    case 'last_used':
      return { value: key.lastUsed, id: key.id };
    default:
      return { value: key.created, id: key.id };
  }
}

const comparisons = ['gte', 'gt', 'lte', 'lt'] as const;

/** The filters of a query in the store's terms. */
export function filtersOf(query: ListQuery): ApiKeyFilters {
  const instants = (['created', 'expires', 'last_used'] as const).flatMap((field) =>
    comparisons.flatMap((comparison) => {
      const value = query[`${field}__${comparison}`];
      return value === undefined ? [] : [{ field, comparison, value }];
    }),
  );
  return {
    labelContains: query.label__contains,
    labelEq: query.label__eq,
    instants,
    expiresIsNull: query.expires__isnull,
    lastUsedIsNull: query.last_used__isnull,
    scopesContain: query.scopes__contains,
    createdByEq: query.created_by__eq,
    statusEq: query.status__eq,
  };
}
