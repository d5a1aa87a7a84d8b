import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeTemporaryFolder } from '../temporary-folder.ts';

/** A file system of its own, in memory. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room that is left, to the last byte. */
  fill(): void;
  /** Gives that room back. */
  empty(): void;
  /** Mounts it anew, read-only or not. Throws when it is busy. */
  remount(options: 'ro' | 'rw'): void;
}

/**
 * A disk of that size for one test, removed after it; undefined where mounting isn't allowed, which takes root: then the
 * test is skipped, visibly, or fails with `POSTERN_TEST_ALL` set by root, who may.
 */
export function requireSmallDisk(t: Test, size: string): SmallDisk | undefined {
  const folder = makeTemporaryFolder('postern-disk-');
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    const reason = `a small disk can't be mounted here (${stderr?.trim()})`;
    if (process.env.POSTERN_TEST_ALL !== undefined && process.getuid?.() === 0) t.fail(reason);
    else t.pass('needs a small disk', { skip: reason });
    return undefined;
  }
  t.teardown(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill: () => writeUntilFull(ballast),
    empty: () => rmSync(ballast, { force: true }),
    remount(options) {
      const result = spawnSync('mount', ['-o', `remount,${options}`, folder], { encoding: 'utf8' });
      if (result.status !== 0) throw new Error(result.stderr);
    },
  };
}

function writeUntilFull(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (const chunk of [Buffer.alloc(65_536), Buffer.alloc(1)])
      try {
        for (;;) writeSync(descriptor, chunk);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
  } finally {
    closeSync(descriptor);
  }
}
