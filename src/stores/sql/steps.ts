import type { RecordsChange } from '../remote/change-feed.ts';

/** The value of a query's parameter. */
export type Value = string | number | null | Uint8Array;

/** A query in a transaction; each `?` stands for the next value. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly writes: boolean;
}

/** A change to announce once the transaction is committed: caches drop what it affects. */
export interface Changed {
  readonly changed: RecordsChange;
}

/**
 * A transaction, written once for all databases: it yields its queries and receives their rows. Its runner begins the
 * transaction, commits it when the steps return and rolls it back when they throw.
 */
export type Steps<T> = Generator<Query | Changed, T, readonly unknown[]>;

/** Steps that return a value without a query. */
export function* given<T>(value: T): Steps<T> {
  yield* [];
  return value;
}

/** Reads all rows. */
export function* all<Row>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: false }) as readonly Row[];
}

/** Reads the first row. */
export function* first<Row>(sql: string, ...values: readonly Value[]): Steps<Row | undefined> {
  return (yield { sql, values, writes: false })[0] as Row | undefined;
}

/** Runs a query that writes; returns the rows of its `RETURNING` clause, if it has one. */
export function* run<Row = never>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: true }) as readonly Row[];
}

/** Notes a change by the transaction, to be announced after the commit; no users or keys by default. */
export function* noteChange(change: Partial<RecordsChange>): Steps<void> {
  yield { changed: { users: [], keys: [], ...change } };
}
