import type { Attempts } from '../attempts.ts';
import type { Sessions } from '../sessions.ts';
import type { SingleUse } from '../single-use.ts';
import { createSteadyClock } from '../steady-clock.ts';
import { createSqliteAttempts } from './attempts.ts';
import { createSqliteDatabase } from './database.ts';
import { LiveSessions } from './live-sessions.ts';
import { openStoreFile, type SqliteStore, type SqliteStoreOptions } from './records.ts';
import { createSessionList } from './session-list.ts';
import { prepareSessionStatements } from './session-statements.ts';
import { SessionSteps, toSession } from './session-steps.ts';
import { createSqliteSingleUse } from './single-use.ts';

/** Sessions deleted in one transaction: about a millisecond. */
const removeBatch = 500;
/** Uses written in one transaction: about two milliseconds. */
const useBatch = 250;
/** Time for which what has ended is kept, ms: a clock that is ahead may be set back, and deleted sessions don't come back. */
const keptMs = 24 * 3_600_000;

/** Everything in the file of the sessions, over one connection; `close` closes all of it. */
export interface SqliteSessions extends Sessions, SingleUse, Attempts, SqliteStore {}

/** Options of the session store. */
export interface SqliteSessionsOptions extends SqliteStoreOptions {
  /** Milliseconds elapsed, whatever the clock is set to; default `performance.now()`. */
  readonly elapsed?: () => number;
}

/**
 * Opens the session store in a SQLite file, created and migrated as needed; `now` is the store's clock.
 * Throws {@link ../store-open-error.ts StoreOpenError} when the file can't be used.
 */
export function createSqliteSessions(file: string, options: SqliteSessionsOptions): SqliteSessions {
  const { now, elapsed = () => performance.now(), staleIfErrorMs = () => 0 } = options;
  const { connection, health } = openStoreFile(file, 'sessions', options);
  const { db, read, write } = connection;
  const statements = prepareSessionStatements(db);
  const live = new LiveSessions(connection, statements, staleIfErrorMs);
  const steps = new SessionSteps(statements, live, createSteadyClock(now, elapsed));
  const database = createSqliteDatabase(connection, now);
  const list = createSessionList(now);
  const { pruneAttempts, ...attempts } = createSqliteAttempts(connection, now);
  const { pruneUsed, ...singleUse } = createSqliteSingleUse(connection, now);

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
