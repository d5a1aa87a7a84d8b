import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../machine.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { startKeyService } from './key-service.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer } from './peer.ts';
import { staticCredentials } from './static-keys.ts';

/** Traefik asks a small service about each request. Both processes count. */
export const traefikForwardAuth: Peer = {
  name: 'traefik-forward-auth',
  description: 'Traefik, `forwardAuth` to a Node service with a Map; both counted',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => installedVersion('traefik'),
  async start(surroundings) {
    const { directory, upstreamPort } = surroundings;
    const service = await startKeyService(surroundings, 'traefik-key-service');
    const port = await freePort();
    const routesFile = join(directory, 'traefik-routes.json');
    writeFileSync(routesFile, JSON.stringify(routes(upstreamPort, service.port)));
    const args = [
      `--entryPoints.web.address=127.0.0.1:${port}`,
      `--providers.file.filename=${routesFile}`,
      '--providers.file.watch=false',
      '--global.checkNewVersion=false',
      '--global.sendAnonymousUsage=false',
      '--log.level=ERROR',
    ];
    const program = { name: 'traefik', command: installedProgram('traefik'), args };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy, service.program]);
  },
};

function routes(upstreamPort: number, servicePort: number): object {
  const address = `http://127.0.0.1:${servicePort}/authenticate`;
  return {
    http: {
      routers: { app: { rule: 'PathPrefix(`/`)', service: 'app', middlewares: ['keys'] } },
      middlewares: {
        keys: {
          forwardAuth: {
            address,
            authRequestHeaders: ['X-API-Key'],
            authResponseHeaders: ['X-Auth-Subject'],
          },
        },
      },
      services: { app: { loadBalancer: { servers: [{ url: `http://127.0.0.1:${upstreamPort}` }] } } },
    },
  };
}
