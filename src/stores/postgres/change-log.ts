import { isReadOnly } from './changes.ts';

/** A change that is kept in the store. */
export interface LoggedChange {
  readonly version: number;
  readonly hints: string;
}

/** Up to where the changes of a store are known. */
export interface LogPosition {
  readonly version: number;
  /** Tells this version from one of the same number in another history; undefined: it was never kept. */
  readonly mark: string | undefined;
}

/** What a store has told of itself. */
export interface StoreState extends LogPosition {
  /** It takes no writes, and so is of no use, however well it answers. */
  readonly isReadOnly: boolean;
  /** What has been changed since the place that was asked for, in order; null: it can't be told. */
  readonly changes: readonly LoggedChange[] | null;
}

type Ask = (sql: string, values: readonly (number | null)[]) => Promise<readonly unknown[]>;
type LogRow = readonly [version: number, mark: string, hints: string];

/** How many changes are kept, and at how many more the oldest are dropped. */
const keptChanges = 10_000;
const pruneEvery = 256;

/**
 * Counts a change, keeps what it is about and tells of it: all of that together with the change, or nothing. Its values are
 * the channel, what is kept and what is notified.
 */
export const announceChange = `WITH next AS (UPDATE store_state SET version = version + 1 WHERE id = 1 RETURNING version),
  told AS (SELECT version, ?::text AS channel, ?::text AS kept, ?::text AS notified FROM next),
  logged AS (INSERT INTO changes (version, hints) SELECT version, kept FROM told
    ON CONFLICT (version) DO UPDATE SET mark = gen_random_uuid(), hints = '*'),
  dropped AS (DELETE FROM changes c USING next
    WHERE next.version % ${pruneEvery} = 0 AND c.version <= next.version - ${keptChanges})
  SELECT pg_notify(channel, version::text || ' ' || notified) FROM told`;

const selectState = `SELECT s.version, ${isReadOnly} AS "isReadOnly",
  (SELECT json_agg(json_build_array(c.version, c.mark, c.hints) ORDER BY c.version) FROM changes c
    WHERE c.version BETWEEN least($1::bigint, s.version) AND s.version)::text AS log
  FROM store_state s WHERE s.id = 1`;

/**
 * Reads where the store stands and, all of one moment, what has been changed since `known`. It can't be told where `known`
 * is null, too long ago, or of another history: of a server that has lost its last writes, or was restored.
 */
export async function readStoreState(ask: Ask, known: LogPosition | null): Promise<StoreState> {
  const [row] = (await ask(selectState, [known?.version ?? null])) as readonly {
    readonly version: number;
    readonly isReadOnly: boolean;
    readonly log: string | null;
  }[];
  const { version, isReadOnly } = row!;
  if (!Number.isSafeInteger(version) || typeof isReadOnly !== 'boolean')
    throw new TypeError('no store state');
  const log = JSON.parse(row!.log ?? '[]') as readonly LogRow[];
  const last = log.at(-1);
  const mark = last !== undefined && last[0] === version ? last[1] : undefined;
  return { version, mark, isReadOnly, changes: known === null ? null : changesSince(known, version, log) };
}

function changesSince(
  known: LogPosition,
  version: number,
  log: readonly LogRow[],
): readonly LoggedChange[] | null {
  if (log.length === 0 && known.mark === undefined && known.version === version) return [];
  const [first, ...since] = log;
  const isSameHistory = first !== undefined && first[0] === known.version && first[1] === known.mark;
  const isWhole = since.length === version - known.version;
  return isSameHistory && isWhole ? since.map(([number, , hints]) => ({ version: number, hints })) : null;
}
