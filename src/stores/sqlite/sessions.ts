import type { Attempts } from '../attempts.ts';
import type { Comparison } from '../list-query.ts';
import type { Session, SessionQuery, Sessions } from '../sessions.ts';
import type { SingleUse } from '../single-use.ts';
import type { Condition } from '../sql/dialect.ts';
import { comparisonOperators, createList } from '../sql/list.ts';
import { createSteadyClock } from '../steady-clock.ts';
import { createSqliteAttempts } from './attempts.ts';
import type { Connection } from './connection.ts';
import { createSqliteDatabase, sqliteDialect } from './database.ts';
import { LiveSessions } from './live-sessions.ts';
import { openStoreFile, type SqliteRecords, type SqliteStoreOptions } from './records.ts';
import { prepareSessionStatements, type SessionRow, sessionColumns } from './session-statements.ts';
import { SessionSteps, toSession } from './session-steps.ts';

/** Maximum number of sessions deleted in one transaction, which takes about a millisecond. */
const removeBatch = 500;
/** Maximum number of uses written in one transaction, which takes about two milliseconds. */
const useBatch = 250;
/** Time for which expired rows are kept, ms: a clock that is ahead may be set back, which makes them valid again. */
const keptMs = 24 * 3_600_000;

/** All stores in the file of the sessions, over one connection; `close` closes all of them. */
export interface SqliteSessions extends Sessions, SingleUse, Attempts, Pick<SqliteRecords, 'logState'> {}

/**
 * Opens the session store in a SQLite file, created and migrated as needed; `options.now` is its clock. Throws
 * {@link ../store-open-error.ts StoreOpenError} when the file can't be used.
 */
export function createSqliteSessions(file: string, options: SqliteStoreOptions): SqliteSessions {
  const { now, elapsed = () => performance.now(), staleIfErrorMs = () => 0 } = options;
  const { connection, health } = openStoreFile(file, 'sessions', options);
  const { db, read, write } = connection;
  const statements = prepareSessionStatements(db);
  const live = new LiveSessions(connection, statements, staleIfErrorMs);
  const steps = new SessionSteps(statements, live, createSteadyClock(now, elapsed));
  const database = createSqliteDatabase(connection, now);
  const list = createList<SessionQuery, SessionRow, Session>(sqliteDialect, {
    from: 'sessions',
    select: `SELECT ${sessionColumns} FROM sessions`,
    id: 'id',
    row: 'id',
    order: { created: { column: 'created' }, last_used: { column: 'last_used' } },
    conditions: (query) => conditionsOf(query, now()),
    toItem: toSession,
  });
  const { pruneAttempts, ...attempts } = createSqliteAttempts(connection, now);
  const { pruneUsed, ...singleUse } = createSingleUse(connection, now);

  return {
    create: (session, times, maxPerUser) => write(() => steps.create(session, times, maxPerUser)),
    present: (id, generation, times) => write(() => steps.present(id, generation, times)),
    findLive(id) {
      const session = live.find(id);
      return session !== undefined && session.expires > now() ? session : undefined;
    },
    find(id) {
      const row = read(() => statements.byId.get(id));
      return row !== undefined && row.expires > now() ? toSession(row) : undefined;
    },
    idsOfProvider: (which) =>
      read(() =>
        'sid' in which
          ? statements.idsByProviderSid.all(which.sid, which.issuer)
          : statements.idsByProviderSubject.all(which.subject, which.issuer),
      ),
    list: (query) => database.snapshot(() => list(query)),
    countLive: () => read(() => statements.countLive.get(now()) ?? 0),
    async noteUse(uses, times) {
      const all = [...uses];
      for (let start = 0; start < all.length; start += useBatch)
        await write(() => steps.noteUse(all.slice(start, start + useBatch), times));
    },
    revoke: (id) => write(() => steps.revoke(id)),
    revokeAllOf: (userId, exceptId) => write(() => steps.revokeAllOf(userId, exceptId)),
    async revokeAll() {
      const ended: string[] = [];
      for (;;) {
        const removed = await write(() => steps.revokeSome(removeBatch));
        ended.push(...removed.live);
        if (removed.count < removeBatch) return ended;
      }
    },
    // Sessions ended by other processes show when the file is next checked, at every request and every sweep.
    onEnded: () => {},
    async prune() {
      const until = now() - keptMs;
      let pruned = 0;
      for (;;) {
        const { changes } = await write(() => statements.removeExpired.run(until, removeBatch));
        pruned += changes;
        if (changes < removeBatch) break;
      }
      await pruneUsed(until);
      await pruneAttempts(now());
      return pruned;
    },
    ...attempts,
    ...singleUse,
    ping: () => connection.ping(() => statements.byId.get('')),
    logState: () => health.logState,
    close: connection.close,
  };
}

/**
 * Conditions of the list of live sessions. Matches of each can be counted in an index. In list order the conditions are only
 * checked: `+` keeps SQLite from sorting all matches instead.
 */
function conditionsOf({ sortBy, filters }: SessionQuery, now: number): readonly Condition[] {
  const { userId, method, range = {} } = filters;
  const equals = (column: string, value: string | undefined): readonly Condition[] =>
    value === undefined ? [] : [{ sql: `${column} = ?`, inOrder: `+${column} = ?`, values: [value] }];
  return [
    ...equals('user_id', userId),
    ...equals('method', method),
    { sql: 'expires > ?', inOrder: '+expires > ?', values: [now] },
    ...Object.entries(range).map(([comparison, instant]) => ({
      sql: `${sortBy} ${comparisonOperators[comparison as Comparison]} ?`,
      values: [instant],
    })),
  ];
}

/** Store of used values in the file of the sessions; `now` is the store's clock. */
function createSingleUse({ db, read, write }: Connection, now: () => number) {
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
    /** Deletes the values that had expired by `until`, epoch ms. */
    async pruneUsed(until: number) {
      await write(() => removeExpired.run(until));
    },
  } satisfies SingleUse & { pruneUsed(until: number): Promise<void> };
}
