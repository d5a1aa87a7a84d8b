/** The value that an item is sorted by, as stored; the field decides whether null comes first or last. */
export type SortValue = string | number | null;

/** Comparison of instants and numbers. */
export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

/** The operator of a filter. */
export type FilterOperator = Comparison | 'eq' | 'contains' | 'isnull';

/** Filter of a list. Instants are epoch milliseconds; if `value` is a list, all of its elements must match. */
export interface FieldFilter<Field extends string = string> {
  readonly field: Field;
  readonly operator: FilterOperator;
  readonly value: string | number | boolean | readonly string[];
}

/** A position in the order of a list: the sort value and the id of an item, whether it still exists or not. */
export interface ListPosition {
  readonly value: SortValue;
  readonly id: string;
}

/** A query for one page of a list. */
export interface ListQuery<SortField extends string, Filters> {
  readonly sortBy: SortField;
  readonly sortOrder: 'asc' | 'desc';
  /** All must hold. */
  readonly filters: Filters;
  /** Items strictly after this position (or before it, when `backwards`). Absent: from the start (or the end). */
  readonly from?: ListPosition;
  /** With `from`: includes the item at that position, if it still exists. */
  readonly inclusive?: boolean;
  /** Reads towards the start; the items are in list order nonetheless. */
  readonly backwards?: boolean;
  /** The maximum number of items. */
  readonly size: number;
}

/** Page of a list, read in one snapshot. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Number of items of the whole list that pass the filters. */
  readonly total: number;
  /** True if a match comes before the first item (for an empty page: before `from`). */
  readonly before: boolean;
  /** True if a match comes after the last item (for an empty page: after `from`). */
  readonly after: boolean;
}
