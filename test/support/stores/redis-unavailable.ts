import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { administrator, type TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { startReplica } from '../gateway/replicas.ts';
import { startWebSocketUpstream } from '../servers/web-sockets.ts';
import { passGrace, type RelayStage, startRelayStage } from './relay-stage.ts';

const { username, password } = administrator;

/**
 * How long a session seen alive counts while Redis is unavailable, and needs no new query while it is available, ms.
 */
export const staleIfErrorMs = 1_500;
export const livenessAgeMs = 500;

/** The clients that are signed in. */
export interface AwayStage extends RelayStage {
  /** Signed in at the gateway; the next refresh rotates. */
  readonly bearer: string;
  readonly cookie: string;
  /** When that session was created, by `performance.now()`: since then it has been seen alive. */
  readonly seenAtMs: number;
  /** Of a session that the gateway has never seen. */
  readonly unseenBearer: string;
  readonly key: string;
  /** Starts another gateway like `gateway`, on the same stores, with these sections besides. */
  startAnother(t: TestScope, more?: object): Promise<GatewayProcess>;
}

/** Starts all of it; `redis`: further lines of its configuration. */
export async function startAwayStage(
  t: Test,
  options: { readonly redis?: readonly string[] } = {},
): Promise<AwayStage> {
  const sockets = await startWebSocketUpstream(t);
  const config = {
    stores: { sessions_liveness_age: `${livenessAgeMs}ms` },
    sessions: { stale_if_error: `${staleIfErrorMs}ms` },
    upstreams: { app: { url: 'builtin:echo' }, live: { url: sockets.url } },
    routes: [
      { prefix: '/api/live', upstream: 'live' },
      { prefix: '/api', upstream: 'app' },
    ],
  };
  const stage = await startRelayStage(t, config, options.redis);
  const { redis, relay, gateway, elsewhere } = stage;
  const { accessToken: unseenBearer } = await elsewhere.api.signIn(username, password);
  const administrators = await gateway.api.signIn(username, password);
  const { key } = await gateway.api.mintKey(administrators.accessToken, {
    label: 'a key',
    scopes: ['store:read'],
  });
  const seenAtMs = performance.now();
  const { accessToken: bearer, cookie } = await gateway.api.signIn(username, password);
  await passGrace(redis, cookie);
  return {
    ...stage,
    bearer,
    cookie,
    seenAtMs,
    unseenBearer,
    key,
    startAnother: (t, more) => startReplica(t, relay.url, { ...config, ...more }, gateway.folder),
  };
}

/** A way for Redis to become unavailable, and available again. */
export interface Way {
  go(stage: AwayStage): unknown;
  /** Resolves once it responds. */
  comeBack(stage: AwayStage): unknown;
}

/** Every write survives a kill. */
export const durable = ['appendonly yes', 'appendfsync always'];

export const ways: Readonly<Record<string, Way>> = {
  killed: { go: ({ redis }) => redis.kill(), comeBack: ({ redis }) => redis.restart() },
  paused: { go: ({ redis }) => redis.pause(), comeBack: ({ redis }) => redis.resume() },
  'in a black hole': { go: ({ relay }) => relay.blackHole(), comeBack: ({ relay }) => relay.restore() },
};

/** The status of a request by a bearer token or an API key. */
export async function statusOf(
  { api }: GatewayProcess,
  credential: { readonly bearer: string } | { readonly apiKey: string },
): Promise<number> {
  return (await api.send({ path: '/api/store/x', ...credential })).status;
}

/** The response of `/readyz`. */
export async function readiness({
  managementPort,
}: GatewayProcess): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`);
  return { status: response.status, body: await response.json() };
}

/** Why the session store is unavailable, as the log says it. */
export function reasonInLog({ logLines }: GatewayProcess): Promise<string> {
  return eventually('a line about the store', () => {
    const line = logLines().findLast(({ msg, store }) => msg === 'store unavailable' && store === 'sessions');
    return line?.reason as string | undefined;
  });
}

/** The response of `/readyz` with the session store available, or not for that reason. */
export function ready(isAvailable: boolean, reason?: string) {
  const sessions = isAvailable ? { ok: true } : { ok: false, reason };
  const dependencies = { records: { ok: true }, sessions };
  return { status: 200, body: { status: 'ready', dependencies } };
}
