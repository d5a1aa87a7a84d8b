import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Far more than all tests that run at a time keep. */
const enoughBytes = 512 * 1024 * 1024;

const inMemory = '/dev/shm';

/**
 * Makes an empty folder for the stores, the configuration and the log of a test gateway: in memory where there is room,
 * because there a commit waits for no disk, and a start makes some ten of them. The caller removes it.
 */
export function makeTemporaryFolder(prefix: string): string {
  return mkdtempSync(join(hasRoom(inMemory) ? inMemory : tmpdir(), prefix));
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > enoughBytes;
  } catch {
    return false;
  }
}
