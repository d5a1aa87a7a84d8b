import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../machine.ts';
import type { Running } from '../processes.ts';
import { startListening } from './launch.ts';
import type { Surroundings } from './peer.ts';

/** Where clients and the upstream are, and what differs between the rows with nginx. */
export interface NginxSetup {
  readonly name: string;
  readonly port: number;
  /** Directives of the `http` block. */
  readonly http: string;
  /** Directives of `location /`, before the request is passed on. */
  readonly location: string;
  /** Further locations. */
  readonly server?: string;
}

/** nginx's version; undefined where it is not installed. */
export function nginxVersion(): string | undefined {
  const nginx = findExecutable('nginx');
  if (nginx === undefined) return undefined;
  // -V writes to standard error, and names the modules it was built with.
  const text = execFileSync('/bin/sh', ['-c', '"$0" -V 2>&1', nginx], { encoding: 'utf8' });
  if (!text.includes('http_auth_request_module')) return undefined;
  return /nginx\/(\S+)/.exec(text)?.[1];
}

/** Starts nginx with one worker, no access log and up to 128 idle connections to the upstream. */
export async function startNginx(surroundings: Surroundings, setup: NginxSetup): Promise<Running> {
  const { directory, upstreamPort } = surroundings;
  const file = join(directory, `${setup.name}.conf`);
  writeFileSync(file, configuration(setup, upstreamPort));
  const command = findExecutable('nginx') ?? 'nginx';
  const args = ['-p', directory, '-e', 'stderr', '-c', file];
  return startListening(surroundings, { name: setup.name, command, args }, setup.port);
}

function configuration(
  { name, port, http, location, server = '' }: NginxSetup,
  upstreamPort: number,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${name}-${kind};`,
  );
  // Without the two keepalive_requests nginx would reconnect after each thousand.
  return `
daemon off;
worker_processes 1;
pid ${name}.pid;
error_log stderr error;
events { worker_connections 12288; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  keepalive_requests 1000000000;
  upstream app { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 1000000000; }
  ${http}
  server {
    listen 127.0.0.1:${port} backlog=1024;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / {
      ${location}
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-API-Key "";
      proxy_pass http://app;
    }
    ${server}
  }
}
`;
}
