import type { Records } from '../records.ts';
import type { SessionPool } from './pool.ts';
import { retryConflicts } from './transaction.ts';

/** How many uses one statement records: a few milliseconds. */
const batchSize = 500;

const noteLogins = noteStatement('users', 'last_login');
const noteKeys = noteStatement('api_keys', 'last_used');

/** Records uses over that pool, without waiting for other writers; two of them lock the same rows in the same order. */
export function createNoteUse(pool: SessionPool): Records['noteUse'] {
  async function noteAll(statement: string, uses: ReadonlyMap<string, number>): Promise<void> {
    const entries = [...uses];
    for (let start = 0; start < entries.length; start += batchSize) {
      const batch = entries.slice(start, start + batchSize);
      const ids = batch.map(([id]) => id);
      const instants = batch.map(([, at]) => at);
      await pool.use((session) => retryConflicts(() => session.query(statement, [ids, instants])));
    }
  }

  return async ({ logins, keys }) => {
    await noteAll(noteLogins, logins);
    await noteAll(noteKeys, keys);
  };
}

function noteStatement(table: string, column: string): string {
  return `WITH used AS (
      SELECT t.id, u.at FROM unnest(?::text[], ?::bigint[]) u (id, at) JOIN ${table} t ON t.id = u.id
      WHERE t.${column} IS NULL OR t.${column} < u.at
      ORDER BY t.id FOR NO KEY UPDATE OF t)
    UPDATE ${table} t SET ${column} = used.at FROM used WHERE t.id = used.id`;
}
