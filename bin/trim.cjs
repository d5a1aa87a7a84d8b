// Run by npm after the package is installed: removes from its packages what nothing reads at run time, 90 MiB of headers, sources
// and addons of other platforms. Without it (--ignore-scripts) everything works, too.
const { existsSync, readdirSync, rmSync } = require('node:fs');
const { join } = require('node:path');

/** Files that nothing reads at run time, by their paths in `node_modules`. */
const unneeded = [
  /^node-linux-\w+\/(?:include|share|[A-Z]+\.md)$/,
  /^better-sqlite3\/(?:deps|src|build)$/,
  /\.(?:map|d\.c?ts|cpp|h|gypi?)$/,
];

/** Removes those files, and addons whose platform (`linux-x64`, `linuxmusl-x64`) isn't matched by `ours`. */
function trim(packages, ours) {
  for (const file of readdirSync(packages, { recursive: true })) {
    const [, platform] = /\/prebuilds\/([^/]+)$/.exec(file) ?? [];
    const isForeign = platform !== undefined && !ours.test(platform);
    if (isForeign || unneeded.some((pattern) => pattern.test(file)))
      rmSync(join(packages, file), { recursive: true, force: true });
  }
}

// Packages that were installed for this one alone, not a checkout's, nor what another project shares with it.
const packages = join(__dirname, '../node_modules');
if (require.main === module && existsSync(packages) && !existsSync(join(__dirname, '../src')))
  trim(packages, new RegExp(`^${process.platform}(?:musl)?-${process.arch}`));

module.exports = { trim };
