import type { Value } from './steps.ts';

/** What a row must meet; each `?` stands for the next value. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What one database writes differently from the others. */
export interface Dialect {
  /** The column that finds a row of `api_keys` at the least cost. */
  readonly keyRow: string;
  /** The function that gives where in a text (first argument) another one begins, from 1; 0: nowhere. */
  readonly position: string;
  /** That a column has that part, where ASCII letters are the same in both cases, and no others. */
  contains(column: string, part: string): Condition;
  /** The function that makes a JSON array of its arguments. */
  readonly tuple: string;
  /** A JSON value from a column that holds it as text. */
  json(column: string): string;
  /** Aggregates values to a JSON array, as text; `[]` when there are none. */
  arrayOf(value: string, order?: string): string;
  /** An item for FROM: the texts in a JSON array, which is given as text, in a column `value`. */
  elementsOf(array: string): string;
}
