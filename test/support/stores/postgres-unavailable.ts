import { setTimeout as sleep } from 'node:timers/promises';
import { keysPath } from '../administration/key-administration.ts';
import type { ApiRequest } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { administrator, type TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { scrape } from '../gateway/scrape.ts';
import { startTcpRelay, type TcpRelay } from '../servers/tcp-relay.ts';
import {
  activate,
  startPostgresReplica,
  startPostgresReplicas,
  startStreaming,
} from './postgres-replicas.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const { username, password } = administrator;
const scopes = ['store:read'];

/** How long cached credentials count while PostgreSQL is unavailable, ms. */
export const staleIfErrorMs = isLong ? 5_000 : 2_500;

/** By then every change has been notified, or found missing, ms. */
const notifiedWithinMs = 400;

/** A gateway that reaches its PostgreSQL through a relay, and one that reaches it directly. */
export interface RecordsStage {
  readonly server: PostgresServer;
  readonly relay: TcpRelay;
  readonly gateway: GatewayProcess;
  readonly elsewhere: GatewayProcess;
  /** The administrator's. */
  readonly bearer: string;
  /** In use at the gateway. */
  readonly key: string;
  /** Starts another gateway like `gateway`, on the same stores, with these sections besides. */
  startAnother(t: TestScope, more?: object): Promise<GatewayProcess>;
}

/** A way for PostgreSQL to become unavailable, and available again. */
export interface RecordsWay {
  go(stage: RecordsStage): unknown;
  /** Resolves once it responds. */
  comeBack(stage: RecordsStage): unknown;
}

/** Everything that does not depend on a standby. */
export const recordsWays: Readonly<Record<string, RecordsWay>> = {
  killed: { go: ({ server }) => server.kill(), comeBack: ({ server }) => server.restart() },
  paused: { go: ({ server }) => server.pause(), comeBack: ({ server }) => server.resume() },
  'in a black hole': { go: ({ relay }) => relay.blackHole(), comeBack: ({ relay }) => relay.restore() },
  'too slow': { go: ({ relay }) => relay.delay(2_500), comeBack: ({ relay }) => relay.restore() },
};

/** Starts all of it. */
export async function startRecordsStage(t: TestScope): Promise<RecordsStage> {
  const server = await startPostgres(t);
  const relay = await startTcpRelay(t, server);
  const config = {
    ...(await startStreaming(t)),
    sessions: { stale_if_error: `${staleIfErrorMs}ms` },
    stores: { sessions_liveness_age: '1s' },
  };
  const [gateway, elsewhere] = await startPostgresReplicas(t, [relay.url, server.url], config);
  const bearer = await activate(gateway);
  const { key } = await gateway.api.mintKey(bearer, { label: 'in use', scopes });
  const startAnother = (t: TestScope, more?: object) =>
    startPostgresReplica(t, relay.url, gateway.folder, { ...config, ...more });
  return { server, relay, gateway, elsewhere, bearer, key, startAnother };
}

/**
 * Waits until the gateway accepts the key in use from its cache, and continues to. Late notifications of recent changes
 * may invalidate it, or keep a query in flight from being cached.
 */
export async function letRemember({ gateway, key }: RecordsStage): Promise<void> {
  const use = async () => (await gateway.api.send(requests.use(key))).status === 200;
  const queryCount = async () =>
    (await scrape(gateway.managementPort)).value('store_duration_seconds_count', {
      store: 'records',
      operation: 'read',
    });
  await eventually('the key is cached', async () => {
    const before = await queryCount();
    const isUsed = await use();
    await sleep(notifiedWithinMs);
    return isUsed && (await use()) && (await queryCount()) === before;
  });
}

/** A key that the gateway has never seen. */
export async function mintElsewhere({ elsewhere, bearer }: RecordsStage): Promise<string> {
  return (await elsewhere.api.mintKey(bearer, { label: 'from elsewhere', scopes })).key;
}

/** A key and three that were minted with it, which are deleted together or not at all; gives the id of the first. */
export async function mintFamily({ gateway, bearer }: RecordsStage): Promise<string> {
  const { id, key } = await gateway.api.mintKey(bearer, { label: 'family', scopes: ['apikeys:write'] });
  for (const label of ['a', 'b', 'c']) {
    const json = { label: `child ${label}`, scopes: ['apikeys:write'] };
    const { status } = await gateway.api.send({ method: 'POST', path: keysPath, json, apiKey: key });
    if (status !== 201) throw new Error(`a child was answered ${status}`);
  }
  return id;
}

/** Requests that need the store, by name. */
export const requests = {
  use: (apiKey: string): ApiRequest => ({ path: '/api/store/x', apiKey }),
  creation: (bearer: string, label: string): ApiRequest => ({
    method: 'POST',
    path: keysPath,
    json: { label, scopes },
    bearer,
  }),
  familyDeletion: (bearer: string, id: string): ApiRequest => ({
    method: 'DELETE',
    path: `${keysPath}${id}?children=true`,
    bearer,
  }),
  login: {
    method: 'POST',
    path: '/api/login/access-token',
    form: { username, password },
  } satisfies ApiRequest,
};
