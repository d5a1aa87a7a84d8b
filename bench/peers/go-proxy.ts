import { freePort } from '../machine.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer } from './peer.ts';
import { staticCredentials, writeKeys } from './static-keys.ts';

/** The proxy one writes in half an hour: programs/go-proxy. */
export const goProxy: Peer = {
  name: 'go-proxy',
  description: "some thirty lines of Go: the standard library's reverse proxy, and keys in a map",
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => installedVersion('go-proxy'),
  async start(surroundings) {
    const port = await freePort();
    const keysFile = writeKeys(surroundings, 'go-proxy-keys', (key, subject) => `${key} ${subject}`);
    const args = [String(port), String(surroundings.upstreamPort), keysFile];
    const program = { name: 'go-proxy', command: installedProgram('go-proxy'), args };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, staticCredentials(surroundings), [proxy]);
  },
};
