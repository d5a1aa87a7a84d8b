import type { Awaitable } from '../awaitable.ts';
import type { Dialect } from './dialect.ts';
import type { Steps, Value } from './steps.ts';

/** A database as the records store is written for it. All methods throw or reject `store_unavailable`. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  /** Asks one of the store's own queries, a constant; its first row is parsed. */
  one<Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T): Awaitable<T>;
  /** As {@link SqlDatabase.one}, with all rows. */
  many<Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T): Awaitable<T>;
  /** Runs steps that only read, all of one moment. Their queries may be made up for this one time. */
  snapshot<T>(steps: () => Steps<T>): Awaitable<T>;
  /**
   * Runs steps in one transaction: whole or not at all, and no two at once, whichever processes they are in. Rejects with
   * what the steps throw, too.
   */
  write<T>(steps: () => Steps<T>): Promise<T>;
}
