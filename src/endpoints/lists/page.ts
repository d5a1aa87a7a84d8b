import { z } from 'zod';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import type { ListPage, ListPosition } from '../../stores/list-query.ts';

/** Start of a page: after (or, inclusive, at) a position, forwards or backwards; without a position, at the first end. */
export interface PageStart {
  readonly from?: ListPosition;
  readonly inclusive: boolean;
  readonly backwards: boolean;
  /** Maximum number of items, whatever the `size`: a short page stays the page it was. */
  readonly limit?: number;
}

/** The cursors of one list, bound to its sort and filters. */
interface PageCursors {
  /** Throws {@link Refusal} `invalid_cursor`. */
  read(text: string | undefined): PageStart;
  write(start: PageStart): string;
}

const cursorPayload = z.strictObject({
  v: z.union([z.string(), z.number(), z.null()]).optional(),
  i: z.string().optional(),
  at: z.boolean(),
  back: z.boolean(),
  n: z.number().optional(),
});

/** The cursors of a list of that name; `bound` are the parameters that change the order or the choice of items. */
export function pageCursors(
  cursors: Cursors,
  name: string,
  bound: Readonly<Record<string, unknown>>,
): PageCursors {
  const binding = JSON.stringify([
    name,
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

const pageCursor = z.string().nullable();

/** The members of a page's body; `totalNote` says what is counted. */
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
export function pageStarts<Item>(
  page: ListPage<Item>,
  start: PageStart,
  size: number,
  positionOf: (item: Item) => ListPosition,
): PageStarts {
  const { items, before, after } = page;
  const [first, last] = [items[0], items.at(-1)];
  if (first === undefined || last === undefined) {
    // Its items are gone: the page keeps its position, and what is left lies on the other side of it.
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

/** The cursors of a page's body. */
export function cursorFields({ current, currentBackwards, previous, next }: PageStarts, pages: PageCursors) {
  return {
    current_page: pages.write(current),
    current_page_backwards: pages.write(currentBackwards),
    previous_page: previous && pages.write(previous),
    next_page: next && pages.write(next),
  };
}
