import type { Cursors } from '../../credentials/cursor.ts';
import { readQuery } from '../../input/query.ts';
import type { FieldFilter, ListPage, ListPosition, ListQuery } from '../../stores/list-query.ts';
import { filtersOf } from './list-fields.ts';
import { type ListParameters, type ListSpec, listQuerySchema } from './list-spec.ts';
import { cursorFields, type PageStart, type PageStarts, pageCursors, pageStarts } from './page.ts';

/** Request for a page of a list. */
export interface ListRequest<SortField extends string> {
  readonly parameters: ListParameters<SortField>;
  /** Query of the store. */
  readonly query: ListQuery<SortField, readonly FieldFilter[]>;
  /** The body of the response; `turn` may move the starts of the neighbouring pages. */
  body<Item>(
    page: ListPage<Item>,
    options: {
      readonly positionOf: (item: Item) => ListPosition;
      readonly present: (item: Item) => unknown;
      readonly turn?: (starts: PageStarts) => PageStarts;
    },
  ): object;
}

/** Reads the query of a list. Throws {@link ../../errors.ts ValidationError}, and Refusal `invalid_cursor`. */
export type ReadListRequest<SortField extends string> = (
  rawQuery: string | undefined,
) => ListRequest<SortField>;

/** Builds the reader of a list's queries. */
export function createListRequests<SortField extends string>(
  spec: ListSpec<SortField>,
  cursors: Cursors,
): ReadListRequest<SortField> {
  const schema = listQuerySchema(spec);
  const presentation = new Set(Object.keys(spec.presentation ?? {}));

  function boundOf({ size: _size, cursor: _cursor, ...rest }: ListParameters<SortField>) {
    return Object.fromEntries(Object.entries(rest).filter(([name]) => !presentation.has(name)));
  }

  return (rawQuery) => {
    const parameters = readQuery(rawQuery, schema) as ListParameters<SortField>;
    const pages = pageCursors(cursors, spec.name, boundOf(parameters));
    const start = pages.read(parameters.cursor);
    return {
      parameters,
      query: queryOf(parameters, start, filtersOf(spec.fields, parameters)),
      body(page, { positionOf, present, turn = (starts) => starts }) {
        const starts = pageStarts(page, start, parameters.size, positionOf);
        return {
          items: page.items.map((item) => present(item)),
          total: page.total,
          ...cursorFields(turn(starts), pages),
        };
      },
    };
  };
}

function queryOf<SortField extends string>(
  { size, sort_by, sort_order }: ListParameters<SortField>,
  { from, inclusive, backwards, limit }: PageStart,
  filters: readonly FieldFilter[],
): ListQuery<SortField, readonly FieldFilter[]> {
  return {
    sortBy: sort_by,
    sortOrder: sort_order,
    filters,
    from,
    inclusive,
    backwards,
    size: Math.min(size, limit ?? size),
  };
}
