import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { type Architecture, makeArchiveFolder, run } from '../../build/archive.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { tryInstalled } from '../support/gateway/installed.ts';
import { runNpm } from '../support/programs/npm.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

// The self-contained archive, as someone uses it who has no Node and no npm.
const folder = makeTemporaryFolder('postern-archive-');
const unpacked = join(folder, 'a folder of programs');
const own = process.arch as Architecture;
/** The number of each kind of machine in the head of a program or library (elf(5), e_machine). */
const machines = { x64: 62, arm64: 183 };
const most = 60 * 1024 * 1024;
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
t.setTimeout(isLong ? 900_000 : 280_000);
mkdirSync(unpacked);

if (isLong) {
  t.test('archives for both kinds of machine are small, whole, and the same each time', async (t) => {
    const made = ['one', 'other'].map((name) => join(folder, name));
    for (const each of made) run(process.execPath, ['build/package.ts', each]);
    const [one, other] = made as [string, string];
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: one });
    const archives = readdirSync(one).filter((name) => name.endsWith('.tar.gz'));
    t.equal(archives.length, 2);
    for (const name of archives) {
      t.ok(statSync(join(one, name)).size < most, `${name}: ${statSync(join(one, name)).size} bytes`);
      execFileSync('tar', ['-xzf', join(one, name), '-C', unpacked]);
    }
    // V8 writes no code cache twice: the archive that has some is compared without them.
    const withCaches = `linux-${own}.tar.gz`;
    const sumsIn = (made: string) =>
      readFileSync(join(made, 'SHA256SUMS'), 'utf8')
        .split('\n')
        .filter((line) => !line.endsWith(withCaches));
    t.strictSame(sumsIn(one), sumsIn(other));
    const again = join(folder, 'again');
    mkdirSync(again);
    execFileSync('tar', [
      '-xzf',
      join(other, archives.find((name) => name.endsWith(withCaches))!),
      '-C',
      again,
    ]);
    execFileSync('diff', ['-r', '--exclude=*.cache', folderOf(own), join(again, basename(folderOf(own)))]);
    for (const architecture of ['x64', 'arm64'] as const) check(t, architecture, folderOf(architecture));
  });
} else {
  t.test('the folder of an archive is whole', async (t) => {
    // What npm has to fetch was fetched to install this checkout.
    if (runNpm(t, ['view', '--prefer-offline', 'argon2', 'name']) === undefined) return;
    const dist = join(folder, 'dist');
    run(process.execPath, ['build/bundle.ts', dist]);
    makeArchiveFolder(join(unpacked, 'postern'), own, dist);
    check(t, own, join(unpacked, 'postern'));
  });
}

t.test('it starts without any Node, by a symbolic link, from a path with spaces', async (t) => {
  const archive = isLong ? folderOf(own) : join(unpacked, 'postern');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['sh', 'dirname', 'readlink'])
    symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(bin, name));
  symlinkSync(join(archive, 'postern'), join(bin, 'postern'));
  await tryInstalled(t, 'postern', folder, bin);
});

function folderOf(architecture: Architecture): string {
  return join(unpacked, readdirSync(unpacked).find((name) => name.endsWith(`-linux-${architecture}`))!);
}

/** Checks that every program and library is for that kind of machine, and that what has to be named is. */
function check(t: { equal: any; ok: any; match: any }, architecture: Architecture, archive: string): void {
  const files = readdirSync(archive, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const compiled = files.filter((file) => readFileSync(file).subarray(0, 4).equals(Buffer.from('\x7fELF')));
  t.equal(compiled.length, 4, 'Node and three addons');
  for (const file of compiled) t.equal(readFileSync(file).readUInt16LE(18), machines[architecture], file);
  t.match(readlinkSync(join(archive, 'lib/node')), `node-linux-${architecture}/bin/node`);
  const caches = files.filter((file) => file.endsWith('.cache'));
  t.ok(architecture === own ? caches.length > 50 : caches.length === 0, `${caches.length} code caches`);
  const notices = readFileSync(join(archive, 'NOTICES'), 'utf8');
  const { components } = JSON.parse(readFileSync(join(archive, 'sbom.cdx.json'), 'utf8'));
  const listed = components.map(({ name }: { name: string }) => name);
  for (const name of [`node-linux-${architecture}`, 'argon2', 'bcrypt', 'better-sqlite3', 'zod', 'undici']) {
    t.match(notices, new RegExp(`^${name} \\d[^ ]* \\(`, 'm'));
    t.ok(listed.includes(name), name);
  }
  t.ok(!listed.includes('typescript'), 'nothing of development');
  t.match(dirname(archive), / /);
}
