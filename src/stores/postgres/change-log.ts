import { type HintedChange, isReadOnly } from './changes.ts';

/** Position up to which the changes of a store have been read. */
export interface LogPosition {
  readonly version: number;
  /** Distinguishes this version from one of the same number in another history; undefined: the log doesn't have the version. */
  readonly mark: string | undefined;
}

/** The state of a store as read in one snapshot. */
export interface StoreState extends LogPosition {
  /** True if the server accepts no writes, and so is unusable, however well it responds. */
  readonly isReadOnly: boolean;
  /** The changes since the requested position, in order; null: they are unknown. */
  readonly changes: readonly HintedChange[] | null;
}

type RunQuery = (sql: string, values: readonly (number | null)[]) => Promise<readonly unknown[]>;
type LogRow = readonly [version: number, mark: string, hints: string];

/** Number of changes kept, and interval, in changes, at which older ones are dropped. */
const keptChanges = 10_000;
const pruneEvery = 256;

/**
 * SQL that increments the version, logs the hints of a change and notifies of it, in the transaction of the change. Its
 * values are the channel, the hints to log and the hints to notify.
 */
export const announceChange = `WITH next AS (UPDATE store_state SET version = version + 1 WHERE id = 1 RETURNING version),
  hinted AS (SELECT version, ?::text AS channel, ?::text AS kept, ?::text AS notified FROM next),
  logged AS (INSERT INTO changes (version, hints) SELECT version, kept FROM hinted
    ON CONFLICT (version) DO UPDATE SET mark = gen_random_uuid(), hints = '*'),
  dropped AS (DELETE FROM changes c USING next
    WHERE next.version % ${pruneEvery} = 0 AND c.version <= next.version - ${keptChanges})
  SELECT pg_notify(channel, version::text || ' ' || notified) FROM hinted`;

const selectState = `SELECT s.version, ${isReadOnly} AS "isReadOnly",
  (SELECT json_agg(json_build_array(c.version, c.mark, c.hints) ORDER BY c.version) FROM changes c
    WHERE c.version BETWEEN least($1::bigint, s.version) AND s.version)::text AS log
  FROM store_state s WHERE s.id = 1`;

/**
 * Reads in one snapshot the position of the store and the changes since `known`. The changes are unknown when `known` is
 * null, too old, or of another history, because the server has lost its last writes or was restored.
 */
export async function readStoreState(query: RunQuery, known: LogPosition | null): Promise<StoreState> {
  const [row] = (await query(selectState, [known?.version ?? null])) as readonly {
    readonly version: number;
    readonly isReadOnly: boolean;
    readonly log: string | null;
  }[];
  const { version, isReadOnly } = row!;
  if (!Number.isSafeInteger(version) || typeof isReadOnly !== 'boolean')
    throw new TypeError('invalid store state');
  const log = JSON.parse(row!.log ?? '[]') as readonly LogRow[];
  const last = log.at(-1);
  const mark = last !== undefined && last[0] === version ? last[1] : undefined;
  return { version, mark, isReadOnly, changes: known === null ? null : changesSince(known, version, log) };
}

function changesSince(
  known: LogPosition,
  version: number,
  log: readonly LogRow[],
): readonly HintedChange[] | null {
  if (log.length === 0 && known.mark === undefined && known.version === version) return [];
  const [first, ...since] = log;
  const isSameHistory = first !== undefined && first[0] === known.version && first[1] === known.mark;
  const isComplete = since.length === version - known.version;
  return isSameHistory && isComplete ? since.map(([number, , hints]) => ({ version: number, hints })) : null;
}
