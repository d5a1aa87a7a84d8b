import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Architecture, makeArchiveFolder, run } from './archive.ts';

// node build/package.ts [folder [architecture …]]: puts what a release publishes into `packages`, or that folder: the package of
// npm, an archive for each architecture (x64 and arm64), lists of what is in them, and checksums of all.

const [folder = 'packages', ...architectures] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run('npm', ['pack', '--silent', '--pack-destination', resolve(folder)]);

const work = mkdtempSync(join(tmpdir(), 'postern-package-'));
run(process.execPath, ['build/bundle.ts', join(work, 'dist')]);
for (const architecture of (architectures.length > 0 ? architectures : ['x64', 'arm64']) as Architecture[]) {
  const name = `postern-${version}-linux-${architecture}`;
  makeArchiveFolder(join(work, name), architecture, join(work, 'dist'));
  writeFileSync(
    join(folder, `postern-linux-${architecture}.cdx.json`),
    readFileSync(join(work, name, 'sbom.cdx.json')),
  );
  // Owner, times and order are those of no machine; gzip, which every system has: with xz it would be two fifths smaller.
  const same = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rw,go=rX',
    `--mtime=@${madeAt()}`,
  ];
  const archive = join(resolve(folder), `${name}.tar.gz`);
  run('tar', [...same, '--use-compress-program=gzip -n', '-cf', archive, '-C', work, name]);
}
rmSync(work, { recursive: true });

const sums = readdirSync(folder).map((file) => {
  const hash = createHash('sha256').update(readFileSync(join(folder, file)));
  return `${hash.digest('hex')}  ${file}\n`;
});
writeFileSync(join(folder, 'SHA256SUMS'), sums.sort().join(''));

/** The time of the commit in seconds, which is that of every file; SOURCE_DATE_EPOCH, if set, as in other builds. */
function madeAt(): string {
  return process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();
}
