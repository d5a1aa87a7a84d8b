/** What an item is ordered by, as the records hold it; the null of a field is at its far end. */
export type SortValue = string | number | null;

/** How instants and numbers are compared. */
export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

/** What a filter asks of a field. */
export type FilterOperator = Comparison | 'eq' | 'contains' | 'isnull';

/** One filter of a list. Instants are epoch milliseconds; a list of values stands for all of them. */
export interface FieldFilter<Field extends string = string> {
  readonly field: Field;
  readonly operator: FilterOperator;
  readonly value: string | number | boolean | readonly string[];
}

/** A position in the order of a list: the sort value and the id of an item, whether it is still there or not. */
export interface ListPosition {
  readonly value: SortValue;
  readonly id: string;
}

/** Asks for one page of a list. */
export interface ListQuery<SortField extends string, Filters> {
  readonly sortBy: SortField;
  readonly sortOrder: 'asc' | 'desc';
  /** All must hold. */
  readonly filters: Filters;
  /** Items strictly after this position in the order (or before it, when `backwards`). Absent: from the end it starts at. */
  readonly from?: ListPosition;
  /** With `from`: the item at that position, if still there, counts too. */
  readonly inclusive?: boolean;
  /** Read towards the start; items are still given in list order. */
  readonly backwards?: boolean;
  /** How many at most. */
  readonly size: number;
}

/** One page of a list, all of one moment. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** How many items pass the filters. */
  readonly total: number;
  /** Whether any of them lies before the first item (of a page without items: before `from`). */
  readonly before: boolean;
  /** Likewise behind the last item. */
  readonly after: boolean;
}
