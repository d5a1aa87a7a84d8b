import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const dockerfile = readFileSync('Dockerfile', 'utf8');
/** Packages of the image that bring compiled files. */
const packages = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)
  .map((name) => join('node_modules', name, 'prebuilds'))
  .filter((folder) => existsSync(folder));

t.test('compiled files are there for each platform, and the image of one keeps no other', async (t) => {
  const kept = /! -name "linux\*-\$\(node -p process\.arch\)\*"/;
  t.match(dockerfile, kept, 'what the image keeps');
  t.ok(packages.length >= 2, packages.join(' '));
  for (const folder of packages)
    for (const [arch, other] of [
      ['x64', 'arm64'],
      ['arm64', 'x64'],
    ] as const) {
      const names = readdirSync(folder).filter((name) => new RegExp(`^linux.*-${arch}`).test(name));
      t.ok(
        names.some((name) => name.startsWith(`linux-${arch}`)),
        `${folder}: ${arch}`,
      );
      t.notOk(
        names.some((name) => name.includes(other)),
        `${folder}: nothing of ${other}`,
      );
    }
});

t.test('the image names no architecture: the base decides', async (t) => {
  t.notMatch(dockerfile, /amd64|arm64|x86_64|aarch64|--platform/);
});
