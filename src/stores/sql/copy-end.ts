import type { Awaitable } from '../awaitable.ts';
import type { Value } from './steps.ts';

/** Asks one query of an open transaction, each `?` of which stands for the next value; gives its rows. */
export type Ask = (sql: string, values?: readonly Value[]) => Awaitable<readonly Row[]>;

/** A row by the names of its columns: texts, safe integers, bytes and nulls. */
export type Row = Readonly<Record<string, Value>>;

/** Records that are opened to be copied from or to, and for nothing else. */
export interface CopyEnd {
  /** Their file or address, without credentials. */
  readonly location: string;
  /**
   * Runs `work` in one transaction: of records that are copied from it sees one moment and can change nothing; of those
   * that are copied to it keeps others from writing, and is kept whole or not at all. Rejects `store_unavailable`, or
   * with what `work` rejects.
   */
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
