import { z } from 'zod';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import type { ListPosition } from '../../stores/list-query.ts';

/** Start of a page: after (or, inclusive, at) a position, forwards or backwards; without a position, at the first end. */
export interface PageStart {
  readonly from?: ListPosition;
  readonly inclusive: boolean;
  readonly backwards: boolean;
  /** Maximum number of items, whatever the `size`: a short page stays the page it was. */
  readonly limit?: number;
}

/** The cursors of one list, bound to its sort and filters. */
export interface PageCursors {
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
