import type { Attempts } from '../attempts.ts';
import type { Sessions } from '../sessions.ts';
import type { SingleUse } from '../single-use.ts';
import { createSqliteAttempts } from './attempts.ts';
import { createConnection } from './connection.ts';
import { LiveSessions } from './live-sessions.ts';
import { openDatabase } from './open.ts';
import type { SqliteStoreOptions } from './records.ts';
import { prepareSessionStatements } from './session-statements.ts';
import { SessionSteps, toSession } from './session-steps.ts';
import { createSqliteSingleUse } from './single-use.ts';

/** How many expired sessions are deleted in one transaction: about a millisecond. */
const pruneBatch = 500;

/** Everything in the file of the sessions, over one connection; `close` closes all of it. */
export type SqliteSessions = Sessions & SingleUse & Attempts;

/**
 * Opens the session store in a SQLite file, created and migrated as needed; `now` is the store's clock.
 * Throws {@link ../store-open-error.ts StoreOpenError} when the file can't be used.
 */
export function createSqliteSessions(file: string, options: SqliteStoreOptions): SqliteSessions {
  const { now, pollsOncePerTurn, staleIfErrorMs = 0 } = options;
  const connection = createConnection(openDatabase(file, 'sessions', options.onNarrowed), pollsOncePerTurn);
  const { db, read, write } = connection;
  const statements = prepareSessionStatements(db);
  const live = new LiveSessions(connection, statements, staleIfErrorMs);
  const steps = new SessionSteps(statements, live, now);
  const { pruneAttempts, ...attempts } = createSqliteAttempts(connection, now);
  const { consume, release, pruneUsed } = createSqliteSingleUse(connection, now);

  return {
    create: (session, times) => write(() => steps.create(session, times)),
    present: (id, generation, times) => write(() => steps.present(id, generation, times)),
    findLive(id) {
      const session = live.find(id);
      return session !== undefined && session.expires > now() ? session : undefined;
    },
    find(id) {
      const row = read(() => statements.byId.get(id));
      return row !== undefined && row.expires > now() ? toSession(row) : undefined;
    },
    revoke: (id) => write(() => steps.revoke(id)),
    revokeAllOf: (userId, exceptId) => write(() => steps.revokeAllOf(userId, exceptId)),
    // Sessions ended by other processes show when the file is next checked, at every request and every sweep.
    onEnded: () => {},
    async prune() {
      let pruned = 0;
      for (;;) {
        const { changes } = await write(() => statements.removeExpired.run(now(), pruneBatch));
        pruned += changes;
        if (changes < pruneBatch) break;
      }
      await pruneUsed();
      await pruneAttempts();
      return pruned;
    },
    ...attempts,
    consume,
    release,
    ping: async () => read(() => void statements.byId.get('')),
    close: connection.close,
  };
}
