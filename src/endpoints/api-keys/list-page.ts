import { z } from 'zod';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import type {
  ApiKeyFilters,
  ApiKeyPosition,
  ApiKeySortField,
  ApiKeyWithOwner,
} from '../../stores/records.ts';
import type { ListQuery } from './api-key-schemas.ts';

/** Where a page starts: after (or, inclusive, at) a position, forwards or backwards; without one, at the first end. */
export interface PageStart {
  readonly from?: ApiKeyPosition;
  readonly inclusive: boolean;
  readonly backwards: boolean;
}

const cursorPayload = z.strictObject({
  v: z.union([z.string(), z.number(), z.null()]).optional(),
  i: z.string().optional(),
  at: z.boolean(),
  back: z.boolean(),
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
      const { v, i, at, back } = payload.data;
      const from = i === undefined ? undefined : { value: v ?? null, id: i };
      return { ...(from && { from }), inclusive: at, backwards: back };
    },
    write({ from, inclusive, backwards }) {
      return cursors.write({ v: from?.value, i: from?.id, at: inclusive, back: backwards }, binding);
    },
  };
}

/** The place of an item in the order of `sortBy`. */
export function positionOf({ key }: ApiKeyWithOwner, sortBy: ApiKeySortField): ApiKeyPosition {
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
