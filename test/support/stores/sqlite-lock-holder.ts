import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { Test } from 'tap';

const self = fileURLToPath(import.meta.url);

/**
 * Another process that holds the write lock of `file` for `heldMs`, in a transaction that runs `sql`; it has the lock
 * when this resolves.
 */
export async function holdWriteLock(t: Test, file: string, heldMs: number, sql = ''): Promise<ChildProcess> {
  const child = spawn(process.execPath, [self, file, String(heldMs), sql], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  await once(child.stdout!, 'data');
  return child;
}

if (argv[1] === self) {
  const db = new Database(argv[2]);
  db.pragma('journal_mode = WAL');
  db.exec('BEGIN IMMEDIATE');
  db.exec(argv[4] ?? '');
  stdout.write('locked');
  setTimeout(() => db.exec('COMMIT').close(), Number(argv[3]));
}
