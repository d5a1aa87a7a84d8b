import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BuiltImage } from './buildah.ts';

/** A container of an image that runs on this machine's network. */
export interface ImageContainer {
  readonly child: ChildProcess;
  readonly printed: () => string;
  readonly ended: Promise<number | null>;
}

/** What it is run with. */
export interface ContainerOptions {
  /** In place of the image's command. */
  readonly args?: readonly string[];
  /** In place of the image's entry point. */
  readonly entrypoint?: readonly string[];
  readonly env?: Record<string, string>;
  /** Folders of this machine by where they are mounted. */
  readonly mounts: Record<string, string>;
}

/**
 * Runs an image as its own user, with its own environment and no other, on a root that can't be written; only mounts can.
 */
export function runImage({ config, root }: BuiltImage, options: ContainerOptions): ImageContainer {
  const { args = config.Cmd, entrypoint = config.Entrypoint, env = {}, mounts } = options;
  const environment = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const script = [
    'set -e',
    'mount --bind "$ROOT" "$ROOT"',
    'mount --rbind /proc "$ROOT/proc"',
    'mount --rbind /dev "$ROOT/dev"',
    // A mount of its own keeps what it may when the root under it may nothing.
    ...Object.entries(mounts).map(
      ([path, folder]) => `mount --bind ${quoted(folder)} "$ROOT"${quoted(path)}`,
    ),
    'mount -o remount,bind,ro "$ROOT"',
    `exec chroot --userspec=${quoted(config.User)} --groups= "$ROOT" /usr/bin/env -i -C ${quoted(config.WorkingDir)} "$@"`,
  ].join('\n');
  const child = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...environment, ...entrypoint, ...args],
    { env: { PATH: process.env.PATH, ROOT: root }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const pieces: string[] = [];
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (piece) => pieces.push(String(piece)));
  return {
    child,
    printed: () => pieces.join(''),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
