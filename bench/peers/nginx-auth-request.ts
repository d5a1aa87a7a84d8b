import { freePort } from '../machine.ts';
import { startKeyService } from './key-service.ts';
import { asPeer } from './launch.ts';
import { nginxVersion, startNginx } from './nginx-server.ts';
import type { Peer } from './peer.ts';
import { staticCredentials } from './static-keys.ts';

/** The usual home-made gateway: nginx asks a small service about each request. Both processes count. */
export const nginxAuthRequest: Peer = {
  name: 'nginx-auth-request',
  description: 'nginx, one worker, `auth_request` to a Node service with a Map; both counted',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: nginxVersion,
  async start(surroundings) {
    const service = await startKeyService(surroundings, 'nginx-key-service');
    const port = await freePort();
    const nginx = await startNginx(surroundings, {
      name: 'nginx-auth-request',
      port,
      http: `
  upstream keys { server 127.0.0.1:${service.port}; keepalive 128; keepalive_requests 1000000000; }`,
      location: `
      auth_request /authenticate;
      auth_request_set $subject $upstream_http_x_auth_subject;
      proxy_set_header X-Auth-Subject $subject;`,
      server: `
    location = /authenticate {
      internal;
      proxy_pass_request_body off;
      proxy_set_header Connection "";
      proxy_set_header Content-Length "";
      proxy_pass http://keys;
    }`,
    });
    return asPeer(surroundings, port, staticCredentials(surroundings), [nginx, service.program]);
  },
};
