import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable, freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** HAProxy with the keys in a map file. */
export const haproxy: Peer = {
  name: 'haproxy-key-map',
  description: 'HAProxy, one thread, static map file of the keys',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version() {
    const command = findExecutable('haproxy');
    if (command === undefined) return undefined;
    return /version (\S+)/.exec(execFileSync(command, ['-v'], { encoding: 'utf8' }))?.[1];
  },
  async start(surroundings) {
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'haproxy-keys', (key, subject) => `${key} ${subject}`);
    const file = join(surroundings.directory, 'haproxy.cfg');
    writeFileSync(file, configuration(port, surroundings.upstreamPort, keysFile));
    const launch = {
      name: 'haproxy',
      command: findExecutable('haproxy') ?? 'haproxy',
      args: ['-db', '-f', file],
    };
    const proxy = await startListening(surroundings, launch, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};

function configuration(port: number, upstreamPort: number, keysFile: string): string {
  return `
global
  nbthread 1
  maxconn 12288
  no strict-limits
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend clients
  bind 127.0.0.1:${port} backlog 1024
  http-request set-var(txn.subject) req.hdr(x-api-key),map_str(${keysFile})
  http-request deny deny_status 401 unless { var(txn.subject) -m found }
  http-request set-header X-Auth-Subject %[var(txn.subject)]
  http-request del-header X-API-Key
  default_backend app
backend app
  server app 127.0.0.1:${upstreamPort} maxconn 128
`;
}
