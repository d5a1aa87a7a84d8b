import type { Awaitable } from '../awaitable.ts';
import type { Dialect } from './dialect.ts';
import type { Steps, Value } from './steps.ts';

/** A database as the records store needs it. All methods throw or reject `store_unavailable`. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  /** Runs one of the store's constant queries, and parses its first row. */
  one<Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T): Awaitable<T>;
  /** As {@link SqlDatabase.one}, with all rows. */
  many<Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T): Awaitable<T>;
  /** Runs steps that only read, in one snapshot. Their queries may be built for this one call. */
  snapshot<T>(steps: () => Steps<T>): Awaitable<T>;
  /**
   * Runs steps in one transaction: whole or not at all, and one at a time across all processes. Also rejects with what
   * the steps throw.
   */
  write<T>(steps: () => Steps<T>): Promise<T>;
  /** Notes that the former content of the file must not stay in it after this transaction. */
  noteRewrite(): Steps<void>;
  /** Reads the database's clock, epoch ms; for a file this machine's. */
  time(): Steps<number>;
}
