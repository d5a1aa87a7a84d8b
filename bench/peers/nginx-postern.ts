import { freePort } from '../machine.ts';
import { asPeer } from './launch.ts';
import { nginxVersion, startNginx } from './nginx-server.ts';
import type { Peer } from './peer.ts';
import { posternKey } from './postern.ts';
import { startDeciding } from './postern-deciding.ts';

/** Postern as the service that nginx asks. Both processes count. */
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
    const deciding = await startDeciding(surroundings, 'nginx-postern-decisions', 'nginx');
    const port = await freePort();
    const nginx = await startNginx(surroundings, {
      name: 'nginx-postern',
      port,
      http: `
  upstream decisions { server 127.0.0.1:${deciding.port}; keepalive 128; keepalive_requests 1000000000; }`,
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
    return asPeer(surroundings, port, deciding.credentials, [nginx, deciding.postern]);
  },
};
