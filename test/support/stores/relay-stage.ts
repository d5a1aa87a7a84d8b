import type { ApiResponse } from '../clients/api-client.ts';
import { administrator, type TestScope } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { type ReplicaConfig, sessionKey, startReplicas } from '../gateway/replicas.ts';
import { type RedisRelay, startRedisRelay } from './redis-relay.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const { username, password } = administrator;

/** A gateway whose Redis is behind a relay, and one on the same stores that reaches it straight. */
export interface RelayStage {
  readonly redis: RedisServer;
  readonly relay: RedisRelay;
  readonly gateway: GatewayProcess;
  readonly elsewhere: GatewayProcess;
}

/** Starts them, with the administrator of the tests; `redisConfig`: further lines of the configuration of Redis. */
export async function startRelayStage(
  t: TestScope,
  config: ReplicaConfig,
  redisConfig: readonly string[] = [],
): Promise<RelayStage> {
  const redis = await startRedis(t, { config: redisConfig });
  const relay = await startRedisRelay(t, redis);
  const [gateway, elsewhere] = await startReplicas(t, [relay.url, redis.url], config);
  return { redis, relay, gateway, elsewhere };
}

/** A sign-in of the administrator, whatever the response. */
export function tryToSignIn({ api }: GatewayProcess, secret: string = password): Promise<ApiResponse> {
  return api.send({
    method: 'POST',
    path: '/api/login/access-token',
    form: { username, password: secret },
  });
}

/** Lets the grace of the session's current cookie run out: what Redis keeps of it becomes 40 s older. */
export async function passGrace(redis: RedisServer, cookie: string): Promise<void> {
  const key = sessionKey(cookie);
  for (const field of ['issued', 'presented']) {
    const instant = await redis.command('HGET', key, field);
    if (instant !== '') await redis.command('HSET', key, field, Number(instant) - 40_000);
  }
}
