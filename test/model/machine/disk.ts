import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

/**
 * Mounts a small file system in memory on that folder until the test ends; false where mounting is not allowed, and the
 * test says so.
 */
export function mountDisk(t: Test, folder: string, size: string): boolean {
  const { error, status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (error === undefined && status === 0) {
    t.teardown(() => spawnSync('umount', ['-l', folder]));
    return true;
  }
  t.pass('a disk is filled', { skip: 'mounting is not allowed: the disk is never full' });
  return false;
}
