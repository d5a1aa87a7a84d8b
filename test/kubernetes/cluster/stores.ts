import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts';
import { type RedisServer, startRedis } from '../../support/stores/redis-server.ts';
import { nodeAddress, podRange } from '../node/addresses.ts';
import { apply } from './commands.ts';

/** The servers that the replicas share; they run on the node, beside the pods. */
export interface Stores {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** For the chart: where they are, and the Secret with their passwords. */
  readonly values: { readonly config: object; readonly secrets: object };
}

/** The user of Redis and its password. */
export const redisUser = 'acme';
export const redisPassword = 'secret';

/** Starts them, with a Service for each and the Secret in the namespace. They end with the test. */
export async function startStores(t: TestScope, namespace: string, tenant: string): Promise<Stores> {
  const redis = await startRedis(t, {
    config: [`bind 127.0.0.1 ${nodeAddress}`, 'protected-mode no', 'appendonly yes', 'appendfsync always'],
    users: [`${redisUser} on >${redisPassword} ~postern:${tenant}:* &postern:${tenant}:* +@all`],
  });
  const postgres = await startPostgres(t, { config: [`listen_addresses = '127.0.0.1,${nodeAddress}'`] });
  appendFileSync(join(postgres.folder, 'data/pg_hba.conf'), `host all all ${podRange} scram-sha-256\n`);
  await postgres.query('SELECT pg_reload_conf()');
  await apply(namespace, [
    ...serviceOf('redis', 6379, redis.port),
    ...serviceOf('records', 5432, postgres.port),
    storeSecret(redisPassword),
  ]);
  return {
    redis,
    postgres,
    values: {
      config: {
        stores: {
          records: 'postgres://postern@records:5432/postern',
          sessions: 'redis://redis:6379',
          sessions_username: redisUser,
        },
      },
      secrets: {
        recordsPassword: { existingSecret: 'stores', key: 'postgres' },
        sessionsPassword: { existingSecret: 'stores', key: 'redis' },
      },
    },
  };
}

/** With the passwords of both, and something that makes it another one. */
export function storeSecret(redis: string, other = ''): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'stores' },
    stringData: { redis, postgres: 'secret', other },
  };
}

/** A Service without pods, which leads to a port of the node. */
function serviceOf(name: string, port: number, nodePort: number): object[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ port, targetPort: nodePort }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ port: nodePort }],
      endpoints: [{ addresses: [nodeAddress], conditions: { ready: true } }],
    },
  ];
}
