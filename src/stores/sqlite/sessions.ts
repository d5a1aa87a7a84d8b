import { LRUCache } from 'lru-cache';
import type { Attempts } from '../attempts.ts';
import { decideRotation, initialRotation, type RotationState, sessionClock } from '../session-rotation.ts';
import type { LiveSession, Presentation, Session, Sessions } from '../sessions.ts';
import type { SingleUse } from '../single-use.ts';
import { createSqliteAttempts } from './attempts.ts';
import { createConnection } from './connection.ts';
import { openDatabase } from './open.ts';
import type { SqliteStoreOptions } from './records.ts';

type SessionRow = Session & RotationState;

/** How many live sessions this process remembers: a few megabytes. */
const memoSize = 20_000;

/** How many expired sessions go in one transaction: about a millisecond. */
const pruneBatch = 500;

const columns = `id, user_id AS userId, method, scope, address, user_agent AS userAgent, created,
  last_used AS lastUsed, expires, generation, issued, presented,
  CASE WHEN previous_of = generation THEN previous ELSE generation - 1 END AS previous`;

/** What is in the file of the sessions, over one connection; `close` closes all of it. */
export type SqliteSessions = Sessions & SingleUse & Attempts;

/**
 * Opens the session store in a SQLite file, made and migrated as needed; `now` is the store's clock.
 * Throws {@link ../store-open-error.ts StoreOpenError} when the file can't be used.
 */
export function createSqliteSessions(file: string, options: SqliteStoreOptions): SqliteSessions {
  const { now, asksOncePerTurn, staleIfErrorMs = 0 } = options;
  const connection = createConnection(openDatabase(file, 'sessions', options.onNarrowed), asksOncePerTurn);
  const { db, read, write } = connection;
  const byId = db.prepare<[string], SessionRow>(`SELECT ${columns} FROM sessions WHERE id = ?`);
  const liveById = db.prepare<[string], LiveSession>(
    'SELECT id, user_id AS userId, expires FROM sessions WHERE id = ?',
  );
  const insert = db.prepare<[SessionRow]>(
    `INSERT INTO sessions (id, user_id, method, scope, address, user_agent, created, last_used, expires,
      generation, issued, presented, previous, previous_of)
    VALUES (@id, @userId, @method, @scope, @address, @userAgent, @created, @lastUsed, @expires,
      @generation, @issued, @presented, @previous, @generation)`,
  );
  const update = db.prepare<[SessionRow]>(
    `UPDATE sessions SET last_used = @lastUsed, expires = @expires, generation = @generation, issued = @issued,
      presented = @presented, previous = @previous, previous_of = @generation WHERE id = @id`,
  );
  const remove = db.prepare<[string], SessionRow>(`DELETE FROM sessions WHERE id = ? RETURNING ${columns}`);
  const removeOfUser = db.prepare<[string, string | null], LiveSession>(
    'DELETE FROM sessions WHERE user_id = ? AND id IS NOT ? RETURNING id, user_id AS userId, expires',
  );
  const removeExpired = db.prepare<[number, number]>(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires <= ? LIMIT ?)',
  );

  const { count, giveBack, pruneAttempts } = createSqliteAttempts(connection, now);
  const use = db.prepare<[string, number]>('INSERT OR IGNORE INTO used_once (id, expires) VALUES (?, ?)');
  const release = db.prepare<[string]>('DELETE FROM used_once WHERE id = ?');
  const removeUsed = db.prepare<[number]>('DELETE FROM used_once WHERE expires <= ?');

  const memo = new LRUCache<string, LiveSession>({ max: memoSize });
  let memoChanges = connection.changes();

  let lastCheckAt = performance.now();

  /** What is remembered is as good as the last look at the file. */
  function recall(id: string): LiveSession | undefined {
    let changes: number;
    try {
      changes = connection.changes();
    } catch (error) {
      const session = memo.get(id);
      if (session === undefined || performance.now() - lastCheckAt >= staleIfErrorMs) throw error;
      return session;
    }
    lastCheckAt = performance.now();
    if (changes !== memoChanges) {
      memo.clear();
      memoChanges = changes;
    }
    let session = memo.get(id);
    if (session === undefined) {
      session = read(() => liveById.get(id));
      if (session !== undefined) memo.set(id, session);
    }
    return session;
  }

  return {
    create: (session, times) =>
      write(() => {
        const at = now();
        const expires = at + Math.min(times.idleLifetimeMs, times.absoluteLifetimeMs);
        const row = { ...session, created: at, lastUsed: at, expires, ...initialRotation(at) };
        insert.run(row);
        return { session: toSession(row), now: at };
      }),
    present: (id, generation, times) =>
      write((): Presentation => {
        const row = byId.get(id);
        if (row === undefined) return { outcome: 'gone' };
        const at = sessionClock(now(), row.lastUsed);
        if (row.expires <= at) return { outcome: 'gone' };
        const decision = decideRotation(row, generation, at, times.reuseGraceMs);
        if (decision.outcome === 'gone') return decision;
        memo.delete(id);
        if (decision.outcome === 'reused') {
          remove.get(id);
          return { outcome: 'reused', session: toSession(row) };
        }
        const expires = Math.min(at + times.idleLifetimeMs, row.created + times.absoluteLifetimeMs);
        const used = { ...row, ...decision.state, lastUsed: at, expires };
        update.run(used);
        // A lifetime configured shorter since may have ended it just now.
        if (expires <= at) return { outcome: 'gone' };
        return { outcome: 'current', session: toSession(used), rotated: decision.rotated, now: at };
      }),
    findLive(id) {
      const session = recall(id);
      return session !== undefined && session.expires > now() ? session : undefined;
    },
    find(id) {
      const row = read(() => byId.get(id));
      return row !== undefined && row.expires > now() ? toSession(row) : undefined;
    },
    revoke: (id) =>
      write(() => {
        memo.delete(id);
        const row = remove.get(id);
        return row !== undefined && row.expires > now() ? toSession(row) : undefined;
      }),
    revokeAllOf: (userId, exceptId) =>
      write(() => {
        const removed = removeOfUser.all(userId, exceptId ?? null);
        for (const { id } of removed) memo.delete(id);
        return removed.filter(({ expires }) => expires > now()).map(({ id }) => id);
      }),
    // Other processes' endings show when the file is next asked, at every request and every sweep.
    onEnded: () => {},
    async prune() {
      let pruned = 0;
      for (;;) {
        const { changes } = await write(() => removeExpired.run(now(), pruneBatch));
        pruned += changes;
        if (changes < pruneBatch) break;
      }
      await write(() => removeUsed.run(now()));
      await pruneAttempts();
      return pruned;
    },
    count,
    giveBack,
    consume: (id, expires) => write(() => expires > now() && use.run(id, expires).changes === 1),

    async release(id) {
      await write(() => release.run(id));
    },
    ping: async () => read(() => void byId.get('')),
    close: connection.close,
  };
}

/** Leaves out what only the rotation knows. */
function toSession({ issued: _, presented: __, previous: ___, ...session }: SessionRow): Session {
  return session;
}
