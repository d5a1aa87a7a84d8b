import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import { nginxVersion, startNginx } from './nginx-server.ts';
import type { Peer } from './peer.ts';
import { posternKey } from './postern.ts';
import { bootstrapToken, createKeys } from './postern-credentials.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Postern as the service that nginx asks, with 1,000 API keys. Both processes count. */
export const nginxPostern: Peer = {
  name: 'nginx-postern',
  description: 'nginx, one worker, `auth_request` to Postern (`forward_auth`) with API keys; both counted',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version() {
    const [nginx, postern] = [nginxVersion(), posternKey.version()];
    return nginx === undefined || postern === undefined ? undefined : `${postern}, nginx ${nginx}`;
  },
  async start(surroundings) {
    const [port, publicPort, managementPort, decisionPort] = await freePorts();
    const file = join(surroundings.directory, 'nginx-postern.yaml');
    writeFileSync(file, configuration(publicPort, managementPort, decisionPort));
    const args = [...surroundings.nodeArguments, mainFile, 'serve', '--config', file];
    const program = { name: 'nginx-postern-decisions', command: process.execPath, args };
    const postern = await startListening(surroundings, program, decisionPort);
    const credentials = await createKeys(`http://127.0.0.1:${publicPort}`);
    const nginx = await startNginx(surroundings, {
      name: 'nginx-postern',
      port,
      http: `
  upstream decisions { server 127.0.0.1:${decisionPort}; keepalive 128; keepalive_requests 1000000000; }`,
      location: `
      auth_request /decision;
      auth_request_set $subject $upstream_http_x_auth_subject;
      proxy_set_header X-Auth-Subject $subject;`,
      server: `
    location = /decision {
      internal;
      proxy_pass_request_body off;
      proxy_set_header Connection "";
      proxy_set_header Content-Length "";
      proxy_set_header Host $host;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Original-URI $request_uri;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_pass http://decisions/;
    }`,
    });
    return asPeer(surroundings, port, credentials, [nginx, postern]);
  },
};

async function freePorts(): Promise<[number, number, number, number]> {
  return [await freePort(), await freePort(), await freePort(), await freePort()];
}

function configuration(port: number, managementPort: number, decisionPort: number): string {
  return `
tenant: bench
base_url: http://127.0.0.1:${port}
listen: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${managementPort} }
stores:
  records: sqlite:nginx-postern-records.db
  sessions: sqlite:nginx-postern-sessions.db
passwords: { memory: 1MiB, iterations: 1 }
bootstrap: { token: ${bootstrapToken} }
scopes: { 'store:read': Read assets }
forward_auth: [ { mode: nginx, port: ${decisionPort} } ]
routes:
  - { prefix: /api, upstream: none, scopes: { read: ['store:read'], write: ['store:read'] } }
log: { level: info }
`;
}
