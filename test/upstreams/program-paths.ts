import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Where `install.sh` puts what packages do not bring to the `PATH`. */
const cache = join(root, 'node_modules/.cache/upstreams');

/** Files that servers are started with. */
export const programs = join(import.meta.dirname, 'programs');

/** The Python of the virtual environment. */
export const python = join(cache, 'venv/bin/python');

/** Says that the Python packages are missing; undefined when they are there. */
export function missingPython(): string | undefined {
  return existsSync(python) ? undefined : 'test/upstreams/install.sh has not installed the Python packages';
}

/** Says that a program is missing; undefined when it is there. */
export function missingProgram(name: string, probe: string): string | undefined {
  return spawnSync(name, [probe], { stdio: 'ignore' }).error === undefined
    ? undefined
    : `${name} is not installed`;
}

/** Says that Go is missing or too old for the router of `net/http` as it is now; undefined when it is there. */
export function missingGo(): string | undefined {
  const { stdout } = spawnSync('go', ['version'], { encoding: 'utf8' });
  const [, minor] = /go1\.(\d+)/.exec(stdout ?? '') ?? [];
  return Number(minor) >= 22 ? undefined : 'Go 1.22 or later is not installed';
}

/** The newest PHP-FPM; undefined when there is none. Debian names it after its version. */
export function findPhpFpm(): string | undefined {
  const folder = '/usr/sbin';
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder)
    .filter((file) => file.startsWith('php-fpm'))
    .sort()
    .at(-1);
  return name === undefined ? undefined : join(folder, name);
}

/** Builds the Go server once a run; gives its path. Throws what the compiler says. */
export function buildGoServer(): string {
  const binary = join(cache, 'go-server');
  const { status, stderr } = spawnSync('go', ['build', '-o', binary, '.'], {
    cwd: programs,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return binary;
}
