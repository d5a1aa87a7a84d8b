import type { Records } from '../records.ts';
import type { SessionPool } from './pool.ts';
import { retryConflicts } from './transaction.ts';

/** Number of uses in a statement: a few milliseconds. */
const batchSize = 500;

/** Updates rows in the order of their ids: two statements that lock the same rows never deadlock. */
const noteKeys = `WITH used AS (
      SELECT t.id, u.at FROM unnest(?::text[], ?::bigint[]) u (id, at) JOIN api_keys t ON t.id = u.id
      WHERE t.last_used IS NULL OR t.last_used < u.at
      ORDER BY t.id FOR NO KEY UPDATE OF t)
    UPDATE api_keys t SET last_used = used.at FROM used WHERE t.id = used.id`;

/** Records uses of keys over that pool, without waiting for other writers. */
export function createNoteUse(pool: SessionPool): Records['noteUse'] {
  return async (keys) => {
    const entries = [...keys];
    for (let start = 0; start < entries.length; start += batchSize) {
      const batch = entries.slice(start, start + batchSize);
      const ids = batch.map(([id]) => id);
      const instants = batch.map(([, at]) => at);
      await pool.use((session) => retryConflicts(() => session.query(noteKeys, [ids, instants])));
    }
  };
}
