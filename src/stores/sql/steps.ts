import type { RecordsChange } from '../remote/change-feed.ts';

/** A parameter of a query. */
export type Value = string | number | null | Uint8Array;

/** Query of a transaction; each `?` stands for the next value. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly writes: boolean;
}

/** Invalidates what is cached of these keys and users once the transaction is committed. */
export interface Changed {
  readonly changed: RecordsChange;
}

/**
 * A transaction, written once for all databases: it yields its queries and receives their rows. Its runner begins the
 * transaction, commits it when the steps return and rolls it back when they throw.
 */
export type Steps<T> = Generator<Query | Changed, T, readonly unknown[]>;

/** Returns a value without a query. */
export function* given<T>(value: T): Steps<T> {
  yield* [];
  return value;
}

/** Reads rows. */
export function* all<Row>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: false }) as readonly Row[];
}

/** Reads the first row. */
export function* first<Row>(sql: string, ...values: readonly Value[]): Steps<Row | undefined> {
  return (yield { sql, values, writes: false })[0] as Row | undefined;
}

/** Writes; returns the rows of a `RETURNING` clause. */
export function* run<Row = never>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: true }) as readonly Row[];
}

/** Notes what the transaction changes. */
export function* noteChange(change: Partial<RecordsChange>): Steps<void> {
  yield { changed: { users: [], keys: [], ...change } };
}
