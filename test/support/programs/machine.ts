import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Architecture, makeArchiveFolder, run } from '../../../build/archive.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { type AcmeServer, acmePrograms } from '../servers/acme-server.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';

const root = join(import.meta.dirname, '../../..');
const standIns = ['useradd', 'apt-get', 'chown', 'runuser', 'install', 'certbot', 'curl', 'systemctl'];
/** Folders of a machine that the documents' commands name. */
const folders = /(?<![\w.}$"])\/(?:opt|etc|root|var\/lib|usr\/local\/bin)(?=\/)/g;

/** A folder in place of a machine, on which commands of documents run as they are written. */
export interface Machine {
  readonly folder: string;
  /** Makes an archive of that name in the current folder of the commands, as a release has it. */
  makeArchive(name: string): void;
  /** Runs lines of a document in `home`, or a folder in it; rejects if they fail. Resolves to standard output. */
  run(lines: string, options?: { readonly input?: string; readonly folder?: string }): Promise<string>;
  /** Starts lines of a document that don't end by themselves; they are killed at the end of the test. */
  start(lines: string): { printed(): string };
  /** The text of a file of the machine. */
  read(path: string): string;
  /** What the programs that are stood in for were called with. */
  calls(): string[];
}

/**
 * Makes a machine. Its paths are below a folder; who would need root, the network or DNS is stood in for by `machine.sh`;
 * everything else is real. `ports` replaces ports in commands, units and files. With `acme`, Caddy and certbot are real, too;
 * `archive` is the folder of a real archive, in place of a program that runs this checkout.
 */
export function createMachine(
  t: TestScope,
  ports: Readonly<Record<string, number>>,
  real: { readonly acme?: AcmeServer | undefined; readonly archive?: string | undefined } = {},
): Machine {
  const folder = makeTemporaryFolder('postern-machine-');
  const bin = join(folder, 'bin');
  for (const name of [
    'bin',
    'opt',
    'etc/systemd/system',
    'etc/caddy',
    'etc/cron.d',
    'root',
    'var/lib',
    'usr/local/bin',
    'home',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of standIns) symlinkSync(join(import.meta.dirname, 'machine.sh'), join(bin, name));
  writeFileSync(join(folder, 'calls'), '');

  const here = (text: string) =>
    Object.entries(ports).reduce(
      (changed, [port, other]) => changed.replaceAll(new RegExp(`(?<=:|port: )${port}\\b`, 'g'), `${other}`),
      text.replaceAll(folders, (path) => `${folder}${path}`),
    );

  function makeArchive(name: string): void {
    const unpacked = join(folder, 'archive', name);
    if (real.archive === undefined)
      cpSync(join(root, 'examples/systemd'), join(unpacked, 'examples/systemd'), { recursive: true });
    else cpSync(real.archive, unpacked, { recursive: true, verbatimSymlinks: true });
    for (const file of readdirSync(join(unpacked, 'examples/systemd'))) {
      const path = join(unpacked, 'examples/systemd', file);
      writeFileSync(path, here(readFileSync(path, 'utf8')));
    }
    if (real.archive === undefined) {
      const program = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin/postern.js')}' "$@"\n`;
      writeFileSync(join(unpacked, 'postern'), program);
      chmodSync(join(unpacked, 'postern'), 0o755);
    }
    const { status } = spawnSync('tar', [
      'czf',
      join(folder, 'home', `${name}.tar.gz`),
      '-C',
      join(folder, 'archive'),
      name,
    ]);
    if (status !== 0) throw new Error(`no archive ${name}`);
  }

  t.teardown(() => {
    for (const file of ['pid', 'caddy.pid'])
      if (existsSync(join(folder, file)))
        spawnSync('kill', ['-9', readFileSync(join(folder, file), 'utf8').trim()]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  const { NODE_OPTIONS: _, POSTERN_CONFIG: __, ...env } = process.env;
  const { acme } = real;
  const acmeEnv = acme && {
    ACME: acme.directory,
    ACME_CERT: acme.certFile,
    ACME_ROOT: acme.rootFile,
    CADDY: acmePrograms.caddy,
    CERTBOT: acmePrograms.certbot,
    HTTP_PORT: `${ports['80']}`,
    HTTPS_PORT: `${ports['443']}`,
  };

  function spawnLines(lines: string, cwd: string) {
    const PATH = `${bin}:${folder}/usr/local/bin:${process.env.PATH}`;
    const child = spawn('bash', ['-euc', here(lines)], {
      cwd,
      detached: true,
      env: { ...env, ...acmeEnv, PATH, MACHINE: folder, PORT: `${ports['8080']}` },
    });
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk) => {
        printed[name] += chunk;
      });
    return { child, printed };
  }

  return {
    folder,
    makeArchive,
    async run(lines, { input = '', folder: inner = '' } = {}) {
      const { child, printed } = spawnLines(lines, join(folder, 'home', inner));
      child.stdin.end(input);
      const [status] = await once(child, 'close');
      const journal = existsSync(join(folder, 'journal'))
        ? readFileSync(join(folder, 'journal'), 'utf8')
        : '';
      if (status !== 0)
        throw new Error([lines, printed.stdout, printed.stderr, journal.slice(-2000)].join('\n'));
      return printed.stdout;
    },
    start(lines) {
      const { child, printed } = spawnLines(lines, join(folder, 'home'));
      t.teardown(async () => {
        const ended = child.exitCode === null ? once(child, 'close') : undefined;
        process.kill(-child.pid!, 'SIGKILL');
        await ended;
      });
      return { printed: () => printed.stdout + printed.stderr };
    },
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    calls: () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n'),
  };
}

/** At full size, the folder of an archive as it is released, with the program as it is built. */
export function releasedArchive(t: TestScope): string | undefined {
  if (!isLong) return undefined;
  const folder = makeTemporaryFolder('postern-release-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  run(process.execPath, ['build/bundle.ts', join(folder, 'dist')]);
  makeArchiveFolder(join(folder, 'archive'), process.arch as Architecture, join(folder, 'dist'));
  return join(folder, 'archive');
}
