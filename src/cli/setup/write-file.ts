import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes a new file with exactly that mode. Throws, leaving nothing behind, if there is a file or link of that name. */
export function createFile(file: string, text: string, mode: number): void {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fchmodSync(descriptor, mode);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** A name for {@link createFile}, beside a file, that no one can know before. */
export function temporaryName(file: string): string {
  return join(dirname(file), `${randomBytes(8).toString('hex')}.yaml`);
}

/** Puts a new file with that name and mode in place of what is there; a link is replaced, and what it leads to stays. */
export function replaceFile(file: string, text: string, mode: number): void {
  const temporary = temporaryName(file);
  createFile(temporary, text, mode);
  try {
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
