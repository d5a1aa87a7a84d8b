import type { Awaitable } from '../awaitable.ts';
import type { Dialect } from './dialect.ts';
import type { Steps, Value } from './steps.ts';

/** A database, as the records store uses it. All methods throw or reject with `store_unavailable` when it fails. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  /** Runs a query and parses its first row. `sql` must be a constant text, since its prepared statement is kept. */
  one<Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T): Awaitable<T>;
  /** As {@link SqlDatabase.one}, but parses all rows. */
  many<Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T): Awaitable<T>;
  /** Runs steps that only read, in one snapshot. Their queries may be built for a single call. */
  snapshot<T>(steps: () => Steps<T>): Awaitable<T>;
  /**
   * Runs steps in one transaction, as a whole or not at all; the writes of all processes run one at a time. Also rejects with the
   * errors of the steps.
   */
  write<T>(steps: () => Steps<T>): Promise<T>;
  /** Notes that nothing overwritten by this transaction may remain in the database's file. */
  noteRewrite(): Steps<void>;
  /** Reads the clock of the database server or, for a file, of this machine; epoch ms. */
  time(): Steps<number>;
}
