import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import { type Peer, packageVersion, programFile } from './peer.ts';
import { staticCredentials } from './static-keys.ts';

/** What every ratio is to: the proxy library a gateway would otherwise be built on, doing nothing but forwarding. */
export const httpProxy3: Peer = {
  name: 'http-proxy-3',
  description: 'forwards only, keep-alive agent of 128 sockets',
  refusal: undefined,
  identity: undefined,
  version: () => packageVersion('http-proxy-3'),
  async start(surroundings) {
    const { nodeArguments, upstreamPort } = surroundings;
    const port = await freePort();
    const args = [...nodeArguments, programFile('http-proxy-3'), String(port), String(upstreamPort)];
    const program = { name: 'http-proxy-3', command: process.execPath, args };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};
