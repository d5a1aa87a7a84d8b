import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { copyDocuments, sourcesOf } from './documents.ts';
import { noticesOf } from './notices.ts';

const { trim } = createRequire(import.meta.url)('../bin/trim.cjs') as {
  trim: (packages: string, ours: RegExp) => void;
};

/** A kind of machine that there is an archive for, as Node and npm name it. */
export type Architecture = 'x64' | 'arm64';

/**
 * Makes the folder of a self-contained Postern: a launcher, the program in `dist`, its packages and the Node that it runs on.
 * npm brings the packages of the other kind of machine, too; only where this machine can run that Node are there code caches.
 */
export function makeArchiveFolder(folder: string, architecture: Architecture, dist: string): void {
  const lib = join(folder, 'lib');
  mkdirSync(lib, { recursive: true });
  writeFileSync(join(folder, 'sbom.cdx.json'), installPackages(lib, architecture));
  const node = `node_modules/node-linux-${architecture}/bin/node`;
  symlinkSync(node, join(lib, 'node'));
  cpSync(dist, join(lib, 'dist'), { recursive: true });
  if (architecture === process.arch) run(join(lib, 'node'), ['build/code-cache.ts', join(lib, 'dist')]);
  copyDocuments(folder, sourcesOf(JSON.parse(readFileSync('package.json', 'utf8'))));
  cpSync('build/archive/postern', join(folder, 'postern'));
  const packages = readdirSync(join(lib, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
    .map((file) => join(lib, 'node_modules', file));
  const separator = `\n${'-'.repeat(80)}\n`;
  const notices = [readFileSync(join(dist, 'NOTICES'), 'utf8'), noticesOf(packages)].join(separator);
  writeFileSync(join(folder, 'NOTICES'), notices);
  rmSync(join(lib, 'dist/NOTICES'));
}

/** Installs the packages that stay outside the bundle, and Node; gives the list of all that is in either (CycloneDX). */
function installPackages(lib: string, architecture: Architecture): string {
  const npm = (...args: string[]) => {
    const platform = ['--os=linux', '--libc=glibc', `--cpu=${architecture}`];
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    return run('npm', [...args, ...platform, ...quiet], lib);
  };
  mkdirSync(join(lib, 'src'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'src/package.json'])
    cpSync(file, join(lib, file));
  npm('ci', '--omit=dev', '--prefer-offline');
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const { name, version, license, dependencies, optionalDependencies } = manifest;
  const write = (content: object) => writeFileSync(join(lib, 'package.json'), JSON.stringify(content));
  // With --omit=dev it would leave out what development uses too, so it is shown a package without development.
  write({ ...manifest, devDependencies: undefined });
  const listed = JSON.parse(npm('sbom', '--sbom-format=cyclonedx'));
  // What the bundle holds goes; the manifest stays, for the version in it.
  write({ name, version, license, dependencies, optionalDependencies });
  npm('prune', '--offline');
  for (const file of ['package-lock.json', '.npmrc', 'src']) rmSync(join(lib, file), { recursive: true });
  removeUnneeded(join(lib, 'node_modules'), architecture);
  listed.metadata.component.name = name;
  // Two builds of one commit are the same.
  delete listed.serialNumber;
  delete listed.metadata.timestamp;
  return `${JSON.stringify(listed, null, 2)}\n`;
}

function removeUnneeded(packages: string, architecture: Architecture): void {
  trim(packages, new RegExp(`^linux-${architecture}`));
  const files = readdirSync(packages, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /^\.|\.musl\.node$/.test(name)))
    rmSync(join(packages, file), { recursive: true, force: true });
  // Scopes whose packages are gone.
  for (const entry of readdirSync(packages))
    if (readdirSync(join(packages, entry)).length === 0) rmSync(join(packages, entry), { recursive: true });
}

/** Runs a program without the options that this environment has for Node, and gives what it prints. */
export function run(program: string, args: readonly string[], cwd = '.'): string {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
