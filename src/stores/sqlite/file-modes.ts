import { chmodSync, statSync } from 'node:fs';
import { StoreOpenError } from '../store-open-error.ts';

/** Told of a file that others could read, with the mode it had, as `0644`; now it is 0600. */
export type OnNarrowed = (file: string, mode: string) => void;

/** Of a database and what SQLite keeps beside it. */
const suffixes = ['', '-wal', '-shm', '-journal'];
const privateMode = 0o600;
const others = 0o077;

/**
 * Takes a database, and what lies beside it, from everybody but its owner: it holds private keys. SQLite gives files that
 * it makes later the mode of the first. Throws {@link StoreOpenError} when a file stays open to others.
 */
export function narrowModes(path: string, file: string, onNarrowed: OnNarrowed): void {
  for (const suffix of suffixes) {
    const mode = modeOf(path + suffix);
    if (mode === undefined || (mode & others) === 0) continue;
    const wide = `0${mode.toString(8)}`;
    try {
      chmodSync(path + suffix, privateMode);
    } catch (error) {
      throw refusal(file + suffix, wide, (error as NodeJS.ErrnoException).code ?? 'unknown', error);
    }
    // Some file systems take a change and keep everything as it was.
    if (((modeOf(path + suffix) ?? 0) & others) !== 0) throw refusal(file + suffix, wide, 'it has no effect');
    onNarrowed(file + suffix, wide);
  }
}

function modeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}

function refusal(file: string, mode: string, reason: string, cause?: unknown): StoreOpenError {
  return new StoreOpenError(
    file,
    `is open to others (mode ${mode}), and that can't be changed (${reason})`,
    cause,
  );
}
