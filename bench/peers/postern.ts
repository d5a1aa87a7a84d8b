import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable, freePort } from '../machine.ts';
import type { Running } from '../processes.ts';
import { asPeer, startListening } from './launch.ts';
import type { Credentials, Peer, Surroundings } from './peer.ts';
import { bootstrapToken, createBearerTokens, createKeys } from './postern-credentials.ts';

const mainFile = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const packageFile = new URL('../../package.json', import.meta.url);

/** Postern, asked with 1,000 API keys. */
export const posternKey = createPosternPeer({
  name: 'postern-key',
  description: 'Postern with API keys: scopes, identity headers, SQLite stores, access log to a file',
  createCredentials: createKeys,
});

/** Postern, asked with the access tokens of 1,000 sessions. */
export const posternBearer = createPosternPeer({
  name: 'postern-bearer',
  description: 'Postern with bearer tokens: the same',
  createCredentials: createBearerTokens,
});

/** The same with sessions in a Redis, whose CPU time counts too. */
export const posternBearerRedis = createPosternPeer({
  name: 'postern-bearer-redis',
  description: 'Postern with bearer tokens, sessions in Redis (its CPU time included)',
  createCredentials: createBearerTokens,
  sessionServer: 'redis-server',
});

interface PosternPeer {
  readonly name: string;
  readonly description: string;
  readonly createCredentials: (baseUrl: string) => Promise<Credentials>;
  /** The program to keep sessions in; undefined: a SQLite file. */
  readonly sessionServer?: string;
}

function createPosternPeer({ name, description, createCredentials, sessionServer }: PosternPeer): Peer {
  return {
    name,
    description,
    refusal: 401,
    version: () =>
      existsSync(mainFile) && (sessionServer === undefined || findExecutable(sessionServer) !== undefined)
        ? versionOf(sessionServer)
        : undefined,
    async start(surroundings) {
      const port = await freePort();
      const managementPort = await freePort();
      const file = join(surroundings.directory, `${name}.yaml`);
      const servers: Running[] = [];
      let sessions = `sqlite:${name}-sessions.db`;
      if (sessionServer !== undefined) {
        const redisPort = await freePort();
        servers.push(await startRedis(surroundings, sessionServer, redisPort));
        sessions = `redis://127.0.0.1:${redisPort}`;
      }
      const places = { port, managementPort, upstreamPort: surroundings.upstreamPort };
      writeFileSync(file, configuration({ ...places, records: `sqlite:${name}-records.db`, sessions }));
      const args = [...surroundings.nodeArguments, mainFile, 'serve', '--config', file];
      const postern = await startListening(surroundings, { name, command: process.execPath, args }, port);
      const credentials = await createCredentials(`http://127.0.0.1:${port}`);
      return {
        ...asPeer(port, credentials, [postern, ...servers]),
        inspect: (requests) => inspectAccessLog(postern.outputFile, requests),
      };
    },
  };
}

/** Postern's version, and that of the server it keeps sessions in. */
function versionOf(server: string | undefined): string {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8'));
  if (server === undefined) return version;
  const text = execFileSync(findExecutable(server) ?? server, ['--version'], { encoding: 'utf8' });
  return `${version}, ${server} ${/v=(\S+)/.exec(text)?.[1] ?? ''}`;
}

function startRedis(surroundings: Surroundings, command: string, port: number): Promise<Running> {
  const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--dir', surroundings.directory];
  const program = { name: 'postern-redis', command: findExecutable(command) ?? command, args };
  return startListening(surroundings, program, port);
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
function configuration(at: {
  readonly port: number;
  readonly managementPort: number;
  readonly upstreamPort: number;
  readonly records: string;
  readonly sessions: string;
}): string {
  const { port, managementPort, upstreamPort, records, sessions } = at;
  return `
tenant: bench
base_url: http://127.0.0.1:${port}
listen: { host: 127.0.0.1, port: ${port} }
management: { host: 127.0.0.1, port: ${managementPort} }
stores:
  records: ${records}
  sessions: ${sessions}
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
