import type { Value } from './steps.ts';

/** A condition on a row; each `?` stands for the next value. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
  /** The same condition, written so that the planner keeps scanning the table in list order; default `sql`. */
  readonly inOrder?: string;
}

/** The tables whose rows a database can count at a low cost. */
export type CountedTable = 'users' | 'api_keys' | 'audit';

/** The SQL of one database, as far as it differs from that of the others. */
export interface Dialect {
  /** The column that finds a row of `api_keys` at the lowest cost. */
  readonly keyRow: string;
  /** The function that gives the position of a text in another one (first argument), from 1; 0: absent. */
  readonly position: string;
  /** Matches a column that contains a text; the case of ASCII letters is ignored, and of no others. */
  contains(column: string, part: string): Condition;
  /** The function that builds a JSON array from its arguments. */
  readonly tuple: string;
  /** A JSON value from a column that holds it as text. */
  json(column: string): string;
  /** Aggregates values to a JSON array, as text; `[]` when there are none. */
  arrayOf(value: string, order?: string): string;
  /** Selects the number of all rows of a table, as `total`. */
  countRows(table: CountedTable): string;
  /** An item for FROM: the texts in a JSON array (as text), in a column `value`. */
  elementsOf(array: string): string;
}
