import type Database from 'better-sqlite3';

/** Time that another process may hold a lock, ms. */
const timeoutMs = 1_000;

/**
 * Rewrites a file and empties its log, if its former contents must not stay in free pages: every opening tries until it
 * is done. True if it is still to be done, because another process reads the file, or the disk fails.
 */
export function scrub(db: Database.Database): boolean {
  const isDue = db.prepare('SELECT is_due FROM scrub').pluck();
  if (isDue.get() === 0) return false;
  const before = db.pragma('busy_timeout', { simple: true });
  db.pragma(`busy_timeout = ${timeoutMs}`);
  try {
    db.exec('VACUUM');
    const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }];
    if (busy !== 0) return true;
    db.exec('UPDATE scrub SET is_due = 0');
    return false;
  } catch {
    // Someone holds a lock, or the disk is full: neither is a reason not to serve.
    return true;
  } finally {
    db.pragma(`busy_timeout = ${before}`);
  }
}
