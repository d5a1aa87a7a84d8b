import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import type { Records } from '../../src/stores/records.ts';
import type { ScopeSet } from '../../src/stores/scope-set.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createSqliteSessions, type SqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { startOfTime } from './fixtures.ts';
import type { RecordsUnderTest } from './records-suite.ts';
import type { SessionsUnderTest } from './sessions-under-test.ts';

/** A folder of its own, removed after the test. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A clock that the test moves, and beside it the milliseconds that pass. */
export interface ManualClock {
  now(): number;
  elapsed(): number;
  /** Time passes. */
  advance(ms: number): void;
  /** The clock is set, ahead or (negative) back, and no time passes. */
  step(ms: number): void;
}

/** A clock that the test moves. */
export function createManualClock(): ManualClock {
  let passed = 0;
  let stepped = 0;
  return {
    now: () => startOfTime + passed + stepped,
    elapsed: () => passed,
    advance: (ms) => {
      passed += ms;
    },
    step: (ms) => {
      stepped += ms;
    },
  };
}

/** The SQLite records store with extras that only its own tests need. */
export interface SqliteRecordsUnderTest extends RecordsUnderTest {
  readonly file: string;
  openSecond(): Records;
}

/** The SQLite records store on a new file. */
export function createSqliteRecordsUnderTest(t: Test): SqliteRecordsUnderTest {
  const file = join(temporaryFolder(t), 'records.db');
  const { now, advance } = createManualClock();
  const open = () => {
    const store = createSqliteRecords(file, { now });
    t.teardown(() => store.close());
    return store;
  };
  async function addScopeSet(set: ScopeSet): Promise<void> {
    const db = new Database(file);
    db.prepare(
      `INSERT INTO scope_sets (id, name, description, scopes, created, updated)
        VALUES (@id, @name, @description, @scopes, @created, @updated)`,
    ).run({ ...set, scopes: JSON.stringify(set.scopes) });
    db.close();
  }
  async function addEarlierCookieSecret(secret: Uint8Array): Promise<void> {
    const db = new Database(file);
    db.prepare("INSERT INTO secrets (name, value) VALUES ('cookie', ?)").run(secret);
    db.close();
  }
  return { file, store: open(), openSecond: open, advance, addScopeSet, addEarlierCookieSecret };
}

/** The file of the sessions, which also holds used values and counters of attempts. */
export interface SqliteSessionsUnderTest extends SessionsUnderTest {
  readonly store: SqliteSessions;
  readonly file: string;
  openSecond(): SqliteSessions;
}

/** The SQLite session store on a new file. */
export function createSqliteSessionsUnderTest(t: Test): SqliteSessionsUnderTest {
  const file = join(temporaryFolder(t), 'sessions.db');
  const { now, elapsed, advance, step } = createManualClock();
  const open = () => {
    const store = createSqliteSessions(file, { now, elapsed });
    t.teardown(() => store.close());
    return store;
  };
  return { store: open(), file, openSecond: open, seesAtOnce: true, advance, step };
}
