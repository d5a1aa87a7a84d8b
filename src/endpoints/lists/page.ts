import { z } from 'zod';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import { readQuery } from '../../input/url-encoded.ts';
import type { FieldFilter, ListPage, ListPosition, ListQuery } from '../../stores/list-query.ts';
import { filtersOf, type ListParameters, type ListSpec, listQuerySchema } from './list-spec.ts';

/** Start of a page: after a position (or at it, if `inclusive`), forwards or backwards; without one, the start of the list. */
interface PageStart {
  readonly from?: ListPosition;
  readonly inclusive: boolean;
  readonly backwards: boolean;
  /** Maximum number of items, whatever the `size`: a page with fewer items keeps the same items when it is read again. */
  readonly limit?: number;
}

/**
 * Builds the reader of a list's queries, which throws {@link ../../errors.ts ValidationError}, or {@link Refusal}
 * `invalid_cursor`.
 */
export function createListRequests<SortField extends string>(spec: ListSpec<SortField>, cursors: Cursors) {
  const schema = listQuerySchema(spec);
  const presentation = new Set(Object.keys(spec.presentation ?? {}));

  /** The text that cursors are bound to: the list's name, and the parameters that change the order or the choice of items. */
  function bindingOf({ size: _size, cursor: _cursor, ...rest }: ListParameters<SortField>): string {
    const bound = Object.entries(rest).filter(
      ([name, value]) => !presentation.has(name) && value !== undefined,
    );
    return JSON.stringify([spec.name, bound.sort()]);
  }

  return (rawQuery: string | undefined) => {
    const parameters = readQuery(rawQuery, schema) as ListParameters<SortField>;
    const binding = bindingOf(parameters);
    const { size, cursor, sort_by: sortBy, sort_order: sortOrder } = parameters;
    const start = readCursor(cursor, cursors, binding);
    const { from, inclusive, backwards, limit = size } = start;
    const query: ListQuery<SortField, readonly FieldFilter[]> = {
      sortBy,
      sortOrder,
      filters: filtersOf(spec.fields, parameters),
      from,
      inclusive,
      backwards,
      size: Math.min(size, limit),
    };

    /** The body of the response; `turn` may replace the starts of the page and its neighbours. */
    function body<Item>(
      page: ListPage<Item>,
      options: {
        readonly positionOf: (item: Item) => ListPosition;
        readonly present: (item: Item) => unknown;
        readonly turn?: (starts: PageStarts) => PageStarts;
      },
    ) {
      const { positionOf, present, turn = (starts) => starts } = options;
      const { current, currentBackwards, previous, next } = turn(pageStarts(page, start, size, positionOf));
      const write = (at: PageStart) => writeCursor(at, cursors, binding);
      return {
        items: page.items.map((item) => present(item)),
        total: page.total,
        current_page: write(current),
        current_page_backwards: write(currentBackwards),
        previous_page: previous && write(previous),
        next_page: next && write(next),
      };
    }

    return { parameters, query, body };
  };
}

const cursorPayload = z.strictObject({
  v: z.union([z.string(), z.number(), z.null()]).optional(),
  i: z.string().optional(),
  at: z.boolean(),
  back: z.boolean(),
  n: z.number().optional(),
});

function readCursor(text: string | undefined, cursors: Cursors, binding: string): PageStart {
  if (text === undefined) return { inclusive: false, backwards: false };
  const payload = cursorPayload.safeParse(cursors.read(text, binding));
  if (!payload.success) throw new Refusal('invalid_cursor');
  const { v, i, at, back, n } = payload.data;
  const from = i === undefined ? undefined : { value: v ?? null, id: i };
  return { ...(from && { from }), inclusive: at, backwards: back, limit: n };
}

function writeCursor(start: PageStart, cursors: Cursors, binding: string): string {
  const { from, inclusive, backwards, limit } = start;
  return cursors.write({ v: from?.value, i: from?.id, at: inclusive, back: backwards, n: limit }, binding);
}

const pageCursor = z.string().nullable();

/** The members of a page's body; `totalNote` says what `total` counts. */
export function pageFields<Item extends z.ZodType>(item: Item, totalNote: string) {
  return {
    items: z.array(item),
    total: z.int().nonnegative().describe(totalNote),
    current_page: pageCursor,
    current_page_backwards: pageCursor,
    previous_page: pageCursor,
    next_page: pageCursor,
  };
}

/** Starts of a page and its neighbours; null where the list ends. */
export interface PageStarts {
  readonly current: PageStart;
  /** The same items, read from the other end. */
  readonly currentBackwards: PageStart;
  readonly previous: PageStart | null;
  readonly next: PageStart | null;
}

/** The starts around a page that was read from `start` with room for `size` items. */
function pageStarts<Item>(
  page: ListPage<Item>,
  start: PageStart,
  size: number,
  positionOf: (item: Item) => ListPosition,
): PageStarts {
  const { items, before, after } = page;
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) {
    // The items of this page are gone: it keeps its position, and the remaining items lie on the other side of it.
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
  const [top, bottom] = [positionOf(first), positionOf(last)];
  return {
    current: { from: top, inclusive: true, backwards: false, limit: after ? limit : undefined },
    currentBackwards: { from: bottom, inclusive: true, backwards: true, limit: before ? limit : undefined },
    previous: before ? { from: top, inclusive: false, backwards: true } : null,
    next: after ? { from: bottom, inclusive: false, backwards: false } : null,
  };
}
