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
  /** Name of the function that returns the position of its second argument in its first, from 1; 0 if it is absent. */
  readonly position: string;
  /** Condition that a column contains a text, ignoring the case of ASCII letters only. */
  contains(column: string, part: string): Condition;
  /** Name of the function that builds a JSON array from its arguments. */
  readonly tuple: string;
  /** SQL for the JSON value in a column that holds it as text. */
  json(column: string): string;
  /** Aggregates values into a JSON array, as text; `[]` when there are none. */
  arrayOf(value: string, order?: string): string;
  /** Query for the number of all rows of a table, as `total`. */
  countRows(table: CountedTable): string;
  /** Item for FROM: the texts of a JSON array (given as text), in a column `value`. */
  elementsOf(array: string): string;
}
