import { envoyApiKey } from '../peers/envoy.ts';
import { httpProxy3 } from '../peers/http-proxy-3.ts';
import { nginxKeyMap } from '../peers/nginx-key-map.ts';
import { oathkeeperJwt } from '../peers/oathkeeper.ts';
import { oauth2ProxyJwt } from '../peers/oauth2-proxy.ts';
import type { Peer, RunningPeer } from '../peers/peer.ts';
import { createPosternPeer } from '../peers/postern.ts';
import { createKeys } from '../peers/postern-credentials.ts';
import { postgres } from '../peers/postgres.ts';
import { redis } from '../peers/redis.ts';
import type { StoreServer } from '../peers/store-server.ts';

/** A row of the part. */
export interface Subject {
  readonly peer: Peer;
  /** What it does after the start, before it is idle. */
  readonly use?: (running: RunningPeer) => Promise<void>;
}

const shipped = { createCredentials: createKeys, isShipped: true };

/** Redis and PostgreSQL, neither of which counts: what they hold depends on how they are set up. */
const redisAndPostgres: StoreServer = {
  version() {
    const versions = [redis.version(), postgres.version()];
    return versions.includes(undefined) ? undefined : versions.join(', ');
  },
  async start(surroundings) {
    const [sessions, records] = [await redis.start(surroundings), await postgres.start(surroundings)];
    return {
      stores: { ...sessions.stores, ...records.stores },
      counted: [],
      async stop() {
        await Promise.all(sessions.counted.map((program) => program.stop()));
        await records.stop();
      },
    };
  },
};

/** What people's browsers ask for. */
const pages = ['sign-in', 'sign-out', 'password', 'invitation', 'console/', 'openapi.json'];

async function readPages({ port }: RunningPeer): Promise<void> {
  for (const page of pages) {
    const response = await fetch(`http://127.0.0.1:${port}/postern/${page}`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    const html = await response.text();
    if (response.status >= 400) throw new Error(`/postern/${page}: ${response.status}`);
    for (const [, asset = ''] of html.matchAll(/(?:src|href)="(\/postern\/[^"]+\.(?:js|css|svg)[^"]*)"/g))
      await (await fetch(`http://127.0.0.1:${port}${asset}`)).arrayBuffer();
  }
}

/** Postern as the image has it, with embedded stores. */
export const standard: Peer = createPosternPeer({
  ...shipped,
  name: 'postern',
  description: 'Postern as the image starts it: SQLite stores, one process',
});

/** Names of the rows of Postern, which bounds mention. */
export const posternRows = {
  standard: standard.name,
  twoWorkers: 'postern-two-workers',
  remoteStores: 'postern-redis-postgres',
  pages: 'postern-pages-console',
  sources: 'postern-sources',
} as const;

/** Every row, Postern's first. */
export const subjects: readonly Subject[] = [
  { peer: standard },
  {
    peer: createPosternPeer({
      ...shipped,
      name: posternRows.twoWorkers,
      description: 'the same with `workers: 2`, and the process over them',
      workers: 2,
    }),
  },
  {
    peer: createPosternPeer({
      ...shipped,
      name: posternRows.remoteStores,
      description: 'the same with records in PostgreSQL and sessions in Redis, neither of which counts',
      storeServer: redisAndPostgres,
    }),
  },
  {
    peer: createPosternPeer({
      ...shipped,
      name: posternRows.pages,
      description: 'the same with pages and console, each of which was read before it was idle',
      isForBrowsers: true,
      hasConsole: true,
    }),
    use: readPages,
  },
  {
    peer: createPosternPeer({
      name: posternRows.sources,
      description: 'Postern from its TypeScript sources, with no flags of Node',
      createCredentials: createKeys,
    }),
  },
  ...[nginxKeyMap, envoyApiKey, oauth2ProxyJwt, oathkeeperJwt, httpProxy3].map((peer) => ({ peer })),
];
