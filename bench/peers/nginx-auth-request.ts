import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import { nginxVersion, startNginx } from './nginx-server.ts';
import { type Peer, programFile } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** The usual home-made gateway: nginx asks a small service about each request. Both processes count. */
export const nginxAuthRequest: Peer = {
  name: 'nginx-auth-request',
  description: 'nginx, one worker, `auth_request` to a Node service with a Map; both counted',
  refusal: 401,
  version: nginxVersion,
  async start(surroundings) {
    const keysFile = writeKeys(surroundings, 'key-service-keys', (key) => key);
    const servicePort = await freePort();
    const args = [programFile('key-service'), String(servicePort), keysFile];
    const launch = { name: 'key-service', command: process.execPath, args };
    const service = await startListening(surroundings, launch, servicePort);
    const port = await freePort();
    const nginx = await startNginx(surroundings, {
      name: 'nginx-auth-request',
      port,
      http: `
  upstream keys { server 127.0.0.1:${servicePort}; keepalive 128; keepalive_requests 1000000000; }`,
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
    return asPeer(port, staticCredentials(surroundings), [nginx, service]);
  },
};
