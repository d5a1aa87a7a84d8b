import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestScope } from '../support/gateway/gateway.ts';
import { makeBaseFolder } from './base-image.ts';

/** What an image says of itself. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Record<string, object>;
  readonly ExposedPorts: Record<string, object>;
  readonly Labels: Record<string, string>;
}

/** An image whose files are laid out on this machine. */
export interface BuiltImage {
  readonly config: ImageConfig;
  /** The folder of its files. */
  readonly root: string;
  /** What it has beyond its base without npm, in bytes. */
  readonly addedBytes: number;
}

/** Builds the image of this project on a base made of this machine's files. All is gone at the end of the test. */
export function buildImage(t: TestScope, buildArgs: Record<string, string>): BuiltImage {
  const folder = mkdtempSync(join(tmpdir(), 'postern-image-'));
  const buildah = (...args: string[]) => {
    const storage = [
      '--storage-driver',
      'vfs',
      '--root',
      join(folder, 'storage'),
      '--runroot',
      join(folder, 'run'),
    ];
    return execFileSync('buildah', [...storage, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  t.teardown(() => {
    buildah('rm', '--all');
    rmSync(folder, { recursive: true, force: true });
  });

  const baseFolder = join(folder, 'base');
  mkdirSync(baseFolder);
  makeBaseFolder(baseFolder);
  buildah('bud', '--isolation', 'chroot', '--tag', 'base', baseFolder);
  const args = Object.entries({ NODE_IMAGE: 'localhost/base', ...buildArgs });
  // What this machine has fetched already need not be fetched again.
  const cache = `${join(homedir(), '.npm')}:/root/.npm`;
  buildah(
    ...['bud', '--isolation', 'chroot', '--layers=false', '--volume', cache, '--tag', 'postern'],
    ...args.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    resolve('.'),
  );

  const base = join(baseFolder, 'root');
  const container = buildah('from', 'localhost/postern').trim();
  const root = buildah('mount', container).trim();
  const image = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/postern'));
  return {
    config: image.OCIv1.config as ImageConfig,
    root,
    // The image removes npm.
    addedBytes: bytesIn(root) - bytesIn(base) + bytesIn(join(base, 'usr/local/lib/node_modules')),
  };
}

function bytesIn(folder: string): number {
  return Number(execFileSync('du', ['--summarize', '--bytes', folder], { encoding: 'utf8' }).split('\t')[0]);
}
