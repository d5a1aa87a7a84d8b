import type { SingleUse } from '../single-use.ts';
import type { Connection } from './connection.ts';

/** Keeps used values in the file of the sessions; `now` is the store's clock. */
export function createSqliteSingleUse({ db, read, write }: Connection, now: () => number) {
  const insert = db.prepare<[string, number]>('INSERT OR IGNORE INTO used_once (id, expires) VALUES (?, ?)');
  const select = db.prepare<[string]>('SELECT 1 FROM used_once WHERE id = ?');
  const remove = db.prepare<[string]>('DELETE FROM used_once WHERE id = ?');
  const removeExpired = db.prepare<[number]>('DELETE FROM used_once WHERE expires <= ?');

  return {
    consume: (id, expires) => write(() => expires > now() && insert.run(id, expires).changes === 1),
    wasConsumed: async (id) => read(() => select.get(id) !== undefined),
    async release(id) {
      await write(() => remove.run(id));
    },
    /** Deletes the values that had expired by that instant, epoch ms. */
    async pruneUsed(until: number) {
      await write(() => removeExpired.run(until));
    },
  } satisfies SingleUse & { pruneUsed(until: number): Promise<void> };
}
