import { chmodSync, statSync } from 'node:fs';
import { StoreOpenError } from '../store-open-error.ts';

/** Called with a file that other users could access, and its former mode, such as `0644`; the mode is 0600 now. */
export type OnNarrowed = (file: string, mode: string) => void;

/** Suffixes of a database and of the files that SQLite keeps beside it. */
const suffixes = ['', '-wal', '-shm', '-journal'];
const privateMode = 0o600;
const otherUsers = 0o077;

/**
 * Restricts a database, and the files beside it, to their owner: they hold private keys. SQLite gives files that it
 * creates later the mode of the database. Throws {@link StoreOpenError} when a file stays accessible to other users.
 */
export function narrowModes(path: string, file: string, onNarrowed: OnNarrowed): void {
  for (const suffix of suffixes) {
    const mode = modeOf(path + suffix);
    if (mode === undefined || (mode & otherUsers) === 0) continue;
    const oldMode = `0${mode.toString(8)}`;
    try {
      chmodSync(path + suffix, privateMode);
    } catch (error) {
      throw refusal(file + suffix, oldMode, (error as NodeJS.ErrnoException).code ?? 'unknown', error);
    }
    // Some file systems accept the change and ignore it.
    if (((modeOf(path + suffix) ?? 0) & otherUsers) !== 0) throw refusal(file + suffix, oldMode, 'no effect');
    onNarrowed(file + suffix, oldMode);
  }
}

function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}

function refusal(file: string, mode: string, reason: string, cause?: unknown): StoreOpenError {
  return new StoreOpenError(
    file,
    `is accessible to other users (mode ${mode}), and the mode can't be changed (${reason})`,
    cause,
  );
}
