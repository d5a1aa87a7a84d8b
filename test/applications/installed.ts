import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** The folder in which `install.sh` puts what it installs. */
const cache = join(import.meta.dirname, '../../node_modules/.cache/applications');

/** A program from PyPI. */
export const fromPyPI = (name: string) => join(cache, 'venv/bin', name);
/** A program from PyPI that `install.sh` leaves out in CI, in the environment of that name. */
export const fromPyPILater = (environment: string, name: string) =>
  join(cache, 'later', environment, 'bin', name);
/** A program from npm. */
export const fromNpm = (name: string) => join(cache, 'node_modules/.bin', name);
/** A file of a package from npm. */
export const npmFile = (path: string) => join(cache, 'node_modules', path);
/** A program that is compiled, which `install.sh` leaves out in CI. */
export const compiled = (name: string) => join(cache, 'bin', name);
/** Thunderbird, which `install.sh` leaves out in CI. */
export const thunderbird = '/usr/lib/thunderbird/thunderbird';
/** davfs2's program, which `install.sh` leaves out in CI, and the device that it needs. */
export const davfs = '/usr/sbin/mount.davfs';
export const fuse = '/dev/fuse';
/** A program from Debian. */
export const fromDebian = (name: string) => `/usr/bin/${name}`;

/**
 * True if those files are there. Where one is missing the test is skipped, visibly; with `POSTERN_TEST_ALL` set, where everything
 * that CI installs has to have run, it fails.
 */
export function requireInstalled(t: Test, files: readonly string[]): boolean {
  const missing = files.find((file) => !existsSync(file));
  if (missing === undefined) return true;
  const reason = `test/applications/install.sh has not installed ${missing.replace(`${cache}/`, '')}`;
  const isLeftOut =
    [thunderbird, davfs, fuse].includes(missing) ||
    /\/(?:applications\/(?:later|bin)|example-hosts)\//.test(missing);
  if (process.env.POSTERN_TEST_ALL === undefined || isLeftOut) t.pass('needs a program', { skip: reason });
  else t.fail(reason);
  return false;
}
