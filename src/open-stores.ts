import type { Config } from './config/schema.ts';
import type { Attempts } from './stores/attempts.ts';
import { createMemoryAttempts } from './stores/memory/attempts.ts';
import type { Records } from './stores/records.ts';
import type { Sessions } from './stores/sessions.ts';
import { createSqliteRecords } from './stores/sqlite/records.ts';
import { createSqliteSessions } from './stores/sqlite/sessions.ts';
import { StoreOpenError } from './stores/sqlite/store-open-error.ts';

/** The stores of a configuration, open. */
export interface Stores {
  readonly records: Records;
  readonly sessions: Sessions;
  /** Counters of failed attempts: of this process where sessions are in SQLite. */
  readonly attempts: Attempts;
  close(): Promise<void>;
}

const sqliteScheme = 'sqlite:';

/**
 * Opens the configured stores, creating or migrating them; the only place that knows which kinds there are.
 *
 * Throws {@link StoreOpenError} naming the file or address and the reason. `now` gives epoch ms.
 */
export function openStores(config: Config, now: () => number): Stores {
  const records = createSqliteRecords(requireSqliteFile('stores.records', config.stores.records), {
    now,
    asksOncePerTurn: true,
  });
  let sessions: Sessions;
  try {
    sessions = createSqliteSessions(requireSqliteFile('stores.sessions', config.stores.sessions), {
      now,
      asksOncePerTurn: true,
    });
  } catch (error) {
    void records.close();
    throw error;
  }
  return {
    records,
    sessions,
    attempts: createMemoryAttempts(),
    async close() {
      await Promise.all([records.close(), sessions.close()]);
    },
  };
}

/** A configured store of a kind that this version can't open: its key in the configuration and what it must be instead. */
export interface UnsupportedStore {
  readonly key: 'stores.records' | 'stores.sessions';
  readonly rule: string;
}

/** The stores of a valid configuration that {@link openStores} would refuse for their kind alone. */
export function unsupportedStores({ stores }: Pick<Config, 'stores'>): readonly UnsupportedStore[] {
  return (['records', 'sessions'] as const)
    .filter((name) => !isSqlite(stores[name]))
    .map((name) => ({ key: `stores.${name}`, rule: sqliteRule }));
}

const sqliteRule = 'must be sqlite:PATH in this version';

function isSqlite(address: string): boolean {
  return address.startsWith(sqliteScheme);
}

function requireSqliteFile(key: UnsupportedStore['key'], address: string): string {
  if (isSqlite(address)) return address.slice(sqliteScheme.length);
  // Never the address itself: it may hold a password.
  throw new StoreOpenError(key, sqliteRule);
}
