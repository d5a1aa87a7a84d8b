import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import { type Peer, packageVersion, programFile } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** The gateway one writes in an afternoon: a framework's proxy plugin, and keys in a map. */
export const fastifyHttpProxy: Peer = {
  name: 'fastify-http-proxy',
  description: '@fastify/http-proxy, pre-handler looks the key up in a Map',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => packageVersion('@fastify/http-proxy'),
  async start(surroundings) {
    const { nodeArguments, upstreamPort } = surroundings;
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'fastify-keys', (key, subject) => `${key} ${subject}`);
    const program = programFile('fastify-http-proxy');
    const args = [...nodeArguments, program, String(port), String(upstreamPort), keysFile];
    const launch = { name: 'fastify-http-proxy', command: process.execPath, args };
    const proxy = await startListening(surroundings, launch, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};
