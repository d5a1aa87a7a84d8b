import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { makeBaseFolder } from '../../image/base-image.ts';
import { cacheFolder, imagesFolder, registry } from './folders.ts';
import { pauseImage } from './worker.ts';

/** An image of a node: an archive, and the names it goes by there. */
export interface Image {
  readonly archive: string;
  readonly names: readonly string[];
}

/** What docs/kubernetes.md and the values files call a service, or a container beside one, and the tests' clients. */
const serviceNames = ['orders:1', 'beside:1', 'before:1', 'notes:1'].map((name) => `${registry}/${name}`);
const curlImage = 'docker.io/curlimages/curl:8.10.1';
/** That of the example's own chart. */
const exampleImage = 'docker.io/library/node:24-bookworm-slim';
/** What the service's containers run besides Node. */
const servicePrograms = ['curl', 'sleep', 'cat', 'mv', 'true'];

const sources = [
  'Dockerfile',
  '.npmrc',
  'package.json',
  'package-lock.json',
  'tsconfig*.json',
  'LICENSE',
  'bin/hand-over.cjs',
  'config/image.yaml',
];
const sourceFolders = ['build', 'src'];
const ownFiles = join(import.meta.dirname, '../images');

/** The images, built unless the cache has them; those of Postern are `version`, `next` and `previous`. */
export function makeImages(version: string, say: (line: string) => void): Image[] {
  mkdirSync(imagesFolder, { recursive: true });
  const made = (name: string, key: string, build: (buildah: Buildah) => void): string => {
    const archive = join(imagesFolder, `${name}-${key}.tar`);
    if (existsSync(archive)) return archive;
    say(`builds the image ${name}`);
    const buildah = createBuildah();
    build(buildah);
    // One version of each is kept.
    for (const old of readdirSync(imagesFolder))
      if (old.startsWith(`${name}-`)) rmSync(join(imagesFolder, old), { recursive: true });
    buildah.run('push', '--quiet', `localhost/${name}`, `docker-archive:${archive}.new:localhost/${name}`);
    renameSync(`${archive}.new`, archive);
    return archive;
  };

  const serviceFiles = ['pause.c', 'orders.mjs'].map((name) => join(ownFiles, name));
  const base = `${process.version}-${servicePrograms.join('-')}`;
  const pause = made('pause', hashOf([serviceFiles[0]!]), buildPause);
  const service = made('orders', hashOf([serviceFiles[1]!], base), (buildah) => buildService(buildah, base));
  const files = [...sources, ...sourceFolders.map((folder) => `${folder}/**`)].flatMap((pattern) =>
    globSync(pattern),
  );
  const postern = made('postern', hashOf(files, base), (buildah) => buildPostern(buildah, base));
  const named = (...tags: string[]) => tags.map((tag) => `${registry}/postern:${tag}`);
  const older = process.env.POSTERN_TEST_PREVIOUS;
  return [
    { archive: pause, names: [pauseImage] },
    { archive: service, names: [...serviceNames, curlImage, exampleImage] },
    { archive: older ? resolve(older) : postern, names: named('previous', 'previous-again') },
    { archive: postern, names: named(version, `${version}-again`, '0.1.0-1') },
  ];
}

interface Buildah {
  readonly run: (...args: string[]) => string;
  /** Builds a folder's Dockerfile under a name. */
  readonly build: (name: string, folder: string, ...options: string[]) => void;
}

/** Layers are kept, so that a change of the sources doesn't install every package anew. */
function createBuildah(): Buildah {
  const folder = join(cacheFolder, 'buildah');
  const storage = [
    '--storage-driver',
    'overlay',
    '--root',
    join(folder, 'storage'),
    '--runroot',
    join(folder, 'run'),
  ];
  const run = (...args: string[]) =>
    execFileSync('buildah', [...storage, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    run,
    build: (name, folder, ...options) =>
      void run('bud', '--isolation', 'chroot', '--layers', ...options, '--tag', name, folder),
  };
}

function buildPause(buildah: Buildah): void {
  const folder = emptyFolder('pause');
  execFileSync('gcc', ['-Os', '-static', '-s', '-o', join(folder, 'pause'), join(ownFiles, 'pause.c')]);
  writeFileSync(
    join(folder, 'Dockerfile'),
    'FROM scratch\nCOPY pause /pause\nUSER 65535:65535\nENTRYPOINT ["/pause"]\n',
  );
  buildah.build('pause', folder);
}

function buildService(buildah: Buildah, base: string): void {
  buildBase(buildah, base);
  const folder = emptyFolder('orders');
  cpSync(join(ownFiles, 'orders.mjs'), join(folder, 'orders.mjs'));
  writeFileSync(
    join(folder, 'Dockerfile'),
    'FROM localhost/base\nCOPY orders.mjs /orders.mjs\nUSER 1000:1000\nENTRYPOINT ["node", "/orders.mjs"]\n',
  );
  buildah.build('orders', folder);
}

function buildPostern(buildah: Buildah, base: string): void {
  buildBase(buildah, base);
  // What this machine has fetched already need not be fetched again.
  const cache = `${join(homedir(), '.npm')}:/root/.npm`;
  buildah.build('postern', '.', '--volume', cache, '--build-arg', 'NODE_IMAGE=localhost/base');
}

function buildBase(buildah: Buildah, base: string): void {
  const known = buildah.run('images', '--quiet', '--filter', `label=base=${base}`);
  if (known.trim() !== '') return;
  const folder = emptyFolder('base');
  makeBaseFolder(folder, servicePrograms);
  buildah.build('base', folder, '--label', `base=${base}`);
}

function emptyFolder(name: string): string {
  const folder = join(cacheFolder, 'build', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

function hashOf(files: readonly string[], more = ''): string {
  const hash = createHash('sha256').update(more);
  for (const file of [...files].sort())
    if (statSync(file).isFile()) hash.update(`\0${relative('.', file)}\0`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}
