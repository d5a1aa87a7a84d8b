import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../machine.ts';
import { imageSettings, isBuilt } from '../upkeep/image.ts';
import { asPeer, startListening } from './launch.ts';
import type { Credentials, Peer } from './peer.ts';
import {
  bootstrapToken,
  createBearerTokens,
  createHostCookies,
  createKeys,
  createWebCookies,
} from './postern-credentials.ts';
import { postgres } from './postgres.ts';
import { redis } from './redis.ts';
import type { StoreServer } from './store-server.ts';

/** Postern from its sources, with the code cache that Node keeps of them. */
export const mainFile: string = fileURLToPath(new URL('../../bin/postern.js', import.meta.url));
const packageFile = new URL('../../package.json', import.meta.url);

/** Postern with 1,000 API keys. */
export const posternKey = createPosternPeer({
  name: 'postern-key',
  description: 'Postern with API keys: scopes, identity headers, SQLite stores, access log to a file',
  createCredentials: createKeys,
});

/** Postern with the access tokens of 1,000 sessions. */
export const posternBearer = createPosternPeer({
  name: 'postern-bearer',
  description: 'Postern with bearer tokens: the same',
  createCredentials: createBearerTokens,
});

/** A route for browsers, with the web cookies of 1,000 sessions. */
export const posternBrowser = createPosternPeer({
  name: 'postern-browser',
  description: 'Postern with web cookies on a route for browsers',
  createCredentials: createWebCookies,
  isForBrowsers: true,
});

/** On a named host, whose routes are found by its name, with API keys. */
export const posternKeyHost = createPosternPeer({
  name: 'postern-key-host',
  description: 'Postern with API keys on a route of a named host, among sixteen',
  createCredentials: createKeys,
  isNamedHost: true,
});

/** On a named host, with the host cookies of 1,000 sessions. */
export const posternHost = createPosternPeer({
  name: 'postern-host',
  description: 'Postern with host cookies on a route for browsers of a named host, among sixteen',
  createCredentials: createHostCookies,
  isForBrowsers: true,
  isNamedHost: true,
});

/** In two processes, on every CPU there is rather than on the proxy's alone. */
export const posternKeyTwoWorkers = createPosternPeer({
  name: 'postern-key-two-workers',
  description: 'Postern with API keys and `workers: 2`, which are not pinned to one CPU',
  createCredentials: createKeys,
  workers: 2,
});

/** With bearer tokens and sessions in a Redis, whose CPU time counts too. */
export const posternBearerRedis = createPosternPeer({
  name: 'postern-bearer-redis',
  description: 'Postern with bearer tokens, sessions in Redis (its CPU time included)',
  createCredentials: createBearerTokens,
  storeServer: redis,
});

/** With keys that are in a PostgreSQL. */
export const posternKeyPostgres = createPosternPeer({
  name: 'postern-key-postgres',
  description:
    'Postern with API keys, records in PostgreSQL (its CPU time, five statements a second, is not counted)',
  createCredentials: createKeys,
  storeServer: postgres,
});

/** With a proof for the upstream in each request, by a secret that both have. */
export const posternKeyHs256 = createPosternPeer({
  name: 'postern-key-hs256',
  description: 'Postern with API keys, and an assertion (HS256) for the upstream in each request',
  createCredentials: createKeys,
  assertion: 'HS256',
});

/** With one that the upstream verifies by a published key. */
export const posternKeyEdDsa = createPosternPeer({
  name: 'postern-key-eddsa',
  description: 'Postern with API keys, and an assertion (EdDSA) for the upstream in each request',
  createCredentials: createKeys,
  assertion: 'EdDSA',
});

/** On `node:http` and undici: what Postern's own engine gains. */
export const posternKeyNodeEngine = createPosternPeer({
  name: 'postern-key-node-engine',
  description: 'Postern with API keys and `listen.engine: node`: node:http and undici',
  createCredentials: createKeys,
  engine: 'node',
});

/** What distinguishes a row of Postern. */
export interface PosternPeer {
  readonly name: string;
  readonly description: string;
  readonly createCredentials: (baseUrl: string) => Promise<Credentials>;
  /** What is not in a SQLite file is there. */
  readonly storeServer?: StoreServer;
  /** Default: the built-in one. */
  readonly engine?: 'built_in' | 'node';
  /** Whether there are pages for people, and the route takes the web cookie. Default: false. */
  readonly isForBrowsers?: boolean;
  /** True if the pages have the console. Default: false. */
  readonly hasConsole?: boolean;
  /** True if the address under load is an entry of `hosts`, and people sign in elsewhere. Default: false. */
  readonly isNamedHost?: boolean;
  /** Default: 1. */
  readonly workers?: number;
  /** How the upstream verifies who sends each request. Default: it doesn't. */
  readonly assertion?: 'HS256' | 'EdDSA';
  /** True if it is what `npm run build` emits, started as the image starts it. Default: false, from its sources. */
  readonly isShipped?: boolean;
  /** False if it may use every CPU. Default: true with one worker. */
  readonly isPinned?: boolean;
}

/** Makes a row of Postern. */
export function createPosternPeer({
  name,
  description,
  createCredentials,
  storeServer,
  engine = 'built_in',
  isForBrowsers = false,
  hasConsole = false,
  isNamedHost = false,
  workers = 1,
  assertion,
  isShipped = false,
  isPinned = workers === 1,
}: PosternPeer): Peer {
  return {
    name,
    description,
    refusal: 401,
    identity: 'X-Auth-Subject',
    version() {
      const server = storeServer?.version();
      if (
        !(isShipped ? isBuilt() : existsSync(mainFile)) ||
        (storeServer !== undefined && server === undefined)
      )
        return undefined;
      const { version } = JSON.parse(readFileSync(packageFile, 'utf8'));
      return server === undefined ? version : `${version}, ${server}`;
    },
    async start(given) {
      const surroundings = isPinned ? given : { ...given, cpu: undefined };
      const port = await freePort();
      const managementPort = await freePort();
      const file = join(surroundings.directory, `${name}.yaml`);
      const server = await storeServer?.start(surroundings);
      const files = { records: `sqlite:${name}-records.db`, sessions: `sqlite:${name}-sessions.db` };
      const { upstreamPort } = surroundings;
      const browsers = { isForBrowsers, hasConsole, isNamedHost };
      const places = { port, managementPort, upstreamPort, engine, ...browsers, workers };
      const secretFile = join(surroundings.directory, `${name}.secret`);
      if (assertion === 'HS256') writeFileSync(secretFile, randomBytes(48).toString('base64'));
      const proof = assertion && proofs[assertion](secretFile);
      writeFileSync(file, configuration({ ...places, ...files, ...server?.stores, proof }));
      const shipped = isShipped ? imageSettings() : { args: [mainFile], env: {} };
      const args = [...surroundings.nodeArguments, ...shipped.args, 'serve', '--config', file];
      const program = { name, command: process.execPath, args, env: shipped.env };
      const postern = await startListening(surroundings, program, port);
      const credentials = await createCredentials(
        `http://${isNamedHost ? 'localhost' : '127.0.0.1'}:${port}`,
      );
      const peer = asPeer(surroundings, port, credentials, [postern, ...(server?.counted ?? [])]);
      return {
        ...peer,
        inspect: (requests) => inspectAccessLog(postern.outputFile, requests),
        async stop() {
          await peer.stop();
          await server?.stop();
        },
      };
    },
  };
}

/** The last lines of a window may still be in the logger's buffer of 64 KiB. */
const bufferedLines = 330;

/** Checks that each request was logged, then empties the log so that a long run doesn't fill the disk. */
export function inspectAccessLog(file: string, requests: number): void {
  let lines = 0;
  for (const byte of readFileSync(file)) if (byte === 0x0a) lines += 1;
  truncateSync(file);
  if (lines < requests * 0.95 - bufferedLines)
    throw new Error(`${lines} access lines for ${requests} requests`);
}

/** The `assertion` of the upstream, by algorithm. */
const proofs = {
  HS256: (secretFile: string) => `, assertion: { algorithm: HS256, secret: { file: ${secretFile} } }`,
  EdDSA: () => ', assertion: { algorithm: EdDSA }',
} as const;

/** The 10,000 idle connections are spread over workers by chance, and each worker takes only its even part of the limit. */
const unevenShares = 'limits: { connections: 12000 }';

/** Everything as shipped but what a thousand sign-ins in a row would otherwise wait for. */
function configuration(at: {
  readonly port: number;
  readonly managementPort: number;
  readonly upstreamPort: number;
  readonly engine: string;
  readonly isForBrowsers: boolean;
  readonly hasConsole: boolean;
  readonly isNamedHost: boolean;
  readonly workers: number;
  readonly records: string;
  readonly sessions: string;
  readonly proof: string | undefined;
}): string {
  const { port, managementPort, upstreamPort, engine, isForBrowsers, records, sessions, proof = '' } = at;
  const own = `http://127.0.0.1:${port}`;
  const others = Array.from({ length: 15 }, (_, index) => `http://host-${index}.localhost:${port}`);
  const hosts = at.isNamedHost ? `hosts: ${JSON.stringify([...others, own])}` : '';
  const ofHost = at.isNamedHost ? 'host: 127.0.0.1, ' : '';
  const hasWeb = isForBrowsers || at.isNamedHost;
  return `
tenant: bench
base_url: ${at.isNamedHost ? `http://localhost:${port}` : own}
${hosts}
listen: { host: 127.0.0.1, port: ${port}, engine: ${engine} }
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
  app: { url: 'http://127.0.0.1:${upstreamPort}'${proof} }
routes:
  - { ${ofHost}prefix: /api, upstream: app, browser: ${isForBrowsers}, scopes: { read: ['store:read'], write: ['store:read'] } }
${hasWeb ? `web: ${at.hasConsole ? '{ console: {} }' : '{}'}` : ''}
log: { level: info }
workers: ${at.workers}
${at.workers > 1 ? unevenShares : ''}
`;
}
