import type { Comparison, ListQuery } from './list-query.ts';

/** The fields that sessions are sorted by. */
export type SessionSortField = 'created' | 'last_used';

/** Filters of the list of sessions; all must hold. */
export interface SessionFilters {
  readonly userId?: string;
  readonly method?: string;
  /** The bounds of a range of the field that the list is sorted by, each at most once; epoch ms. */
  readonly range?: Readonly<Partial<Record<Comparison, number>>>;
}

/** A query for one page of the live sessions. */
export type SessionQuery = ListQuery<SessionSortField, SessionFilters>;
