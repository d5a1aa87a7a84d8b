import type { Awaitable } from '../awaitable.ts';
import type { Value } from './steps.ts';

/** Runs one query in an open transaction and returns its rows; each `?` stands for the next value. */
export type RunQuery = (sql: string, values?: readonly Value[]) => Awaitable<readonly Row[]>;

/** A row by column name: texts, safe integers, bytes and nulls. */
export type Row = Readonly<Record<string, Value>>;

/** Records opened as the source or the target of a copy only. */
export interface CopyEnd {
  /** Their file or address, without credentials. */
  readonly location: string;
  /**
   * Runs `work` in one transaction: on a source it is a read-only snapshot; on a target it blocks other writers, and is
   * committed whole or not at all. Rejects `store_unavailable`, or with what `work` rejects.
   */
  transaction<T>(work: (query: RunQuery) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
