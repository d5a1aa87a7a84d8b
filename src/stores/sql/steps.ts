import type { RecordsChange } from '../change-feed.ts';

/** What a parameter of a query may be. */
export type Value = string | number | null | Uint8Array;

/** One query of a transaction; each `?` stands for the next value. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
  readonly writes: boolean;
}

/** Says that what is remembered of these keys and users is out of date once the transaction counts. */
export interface Changed {
  readonly changed: RecordsChange;
}

/**
 * A transaction, written once for all databases: it yields its queries and is given their rows. Whoever runs it opens
 * the transaction, keeps it when the steps return and rolls it back when they throw.
 */
export type Steps<T> = Generator<Query | Changed, T, readonly unknown[]>;

/** Reads rows. */
export function* all<Row>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: false }) as readonly Row[];
}

/** Reads the first row. */
export function* first<Row>(sql: string, ...values: readonly Value[]): Steps<Row | undefined> {
  return (yield { sql, values, writes: false })[0] as Row | undefined;
}

/** Writes; gives the rows of a `RETURNING` clause. */
export function* run<Row = never>(sql: string, ...values: readonly Value[]): Steps<readonly Row[]> {
  return (yield { sql, values, writes: true }) as readonly Row[];
}

/** Counts a change of these users and keys. */
export function* noteChange(users: readonly string[], keys: readonly string[] = []): Steps<void> {
  yield { changed: { users, keys } };
}

/** Counts the making of a key. */
export function* noteNewKey(id: string): Steps<void> {
  yield { changed: { users: [], keys: [], newKeys: [id] } };
}

/** Counts that a command did something for a gateway to tell of. */
export function* noteCommandEvents(): Steps<void> {
  yield { changed: { users: [], keys: [], hasCommandEvents: true } };
}
