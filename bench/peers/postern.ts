import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../machine.ts';
import { asPeer, startListening } from './launch.ts';
import type { Credentials, Peer } from './peer.ts';
import { bootstrapToken, createBearerTokens, createKeys } from './postern-credentials.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const packageFile = new URL('../../package.json', import.meta.url);

/** Postern, asked with 1,000 API keys. */
export const posternKey = createPosternPeer('postern-key', 'API keys', createKeys);

/** Postern, asked with the access tokens of 1,000 sessions. */
export const posternBearer = createPosternPeer('postern-bearer', 'bearer tokens', createBearerTokens);

function createPosternPeer(
  name: string,
  kind: string,
  createCredentials: (baseUrl: string) => Promise<Credentials>,
): Peer {
  return {
    name,
    description: `Postern with ${kind}: scopes, identity headers, SQLite stores, access log to a file`,
    refusal: 401,
    version: () => (existsSync(mainFile) ? JSON.parse(readFileSync(packageFile, 'utf8')).version : undefined),
    async start(surroundings) {
      const port = await freePort();
      const managementPort = await freePort();
      const file = join(surroundings.directory, `${name}.yaml`);
      writeFileSync(file, configuration(name, port, managementPort, surroundings.upstreamPort));
      const args = [...surroundings.nodeArguments, mainFile, 'serve', '--config', file];
      const postern = await startListening(surroundings, { name, command: process.execPath, args }, port);
      const credentials = await createCredentials(`http://127.0.0.1:${port}`);
      return {
        ...asPeer(port, credentials, [postern]),
        inspect: (requests) => inspectAccessLog(postern.outputFile, requests),
      };
    },
  };
}

/** Sees that each request had its line, then empties the log so that a long run does not fill the disk. */
function inspectAccessLog(file: string, requests: number): void {
  let lines = 0;
  for (const byte of readFileSync(file)) if (byte === 0x0a) lines += 1;
  truncateSync(file);
  // The last lines of a window may still be in the logger's buffer.
  if (lines < requests * 0.95) throw new Error(`${lines} access lines for ${requests} requests`);
}

/** Everything as shipped but what a thousand sign-ins in a row would otherwise wait for. */
function configuration(name: string, port: number, managementPort: number, upstreamPort: number): string {
  return `
tenant: bench
base_url: http://127.0.0.1:${port}
listen: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${managementPort} }
stores:
  records: sqlite:${name}-records.db
  sessions: sqlite:${name}-sessions.db
tokens: { access_lifetime: 1h }
passwords: { memory: 1MiB, iterations: 1 }
login_throttle: { per_account_and_address: 10000, per_account: 10000, per_address: 10000 }
bootstrap: { token: ${bootstrapToken} }
scopes: { 'store:read': Read assets }
upstreams:
  app: { url: 'http://127.0.0.1:${upstreamPort}' }
routes:
  - { prefix: /api, upstream: app, scopes: { read: ['store:read'], write: ['store:read'] } }
log: { level: info }
`;
}
