import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import { type Peer, packageVersion, programFile } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** The gateway one writes in an afternoon: a framework's proxy plugin, and keys in a set. */
export const fastifyHttpProxy: Peer = {
  name: 'fastify-http-proxy',
  description: '@fastify/http-proxy, pre-handler looks the key up in a Set',
  refusal: 401,
  version: () => packageVersion('@fastify/http-proxy'),
  async start(surroundings) {
    const { nodeArguments, upstreamPort } = surroundings;
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'fastify-keys', (key) => key);
    const program = programFile('fastify-http-proxy');
    const args = [...nodeArguments, program, String(port), String(upstreamPort), keysFile];
    const launch = { name: 'fastify-http-proxy', command: process.execPath, args };
    const proxy = await startListening(surroundings, launch, port);
    return asPeer(port, staticCredentials(surroundings), [proxy]);
  },
};
