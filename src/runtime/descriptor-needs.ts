import type { Config } from '../config/sections/schema.ts';
import type { RedisAddress } from '../config/values/redis-address.ts';
import { maxProviderConnections } from '../identity-providers/provider-network.ts';

/** Descriptors of the connections to upstreams and identity providers. */
export interface OutboundNeeds {
  /** When every pool is full. */
  readonly atMost: number;
  /** The most for one request; each client connection has at most one under way. */
  readonly perRequest: number;
}

/** A database, its log, their index, and what SQLite opens while it copies or sorts. */
const perSqliteFile = 6;
/** Each store's connections may be replaced while the old ones are not closed yet. */
const replaced = 2;
/** Redis: commands and notifications. */
const redisClients = 2;
/** Nodes that a Cluster is taken to have, if it names fewer. */
const clusterNodes = 8;
/** The two listeners, and the log opened again. */
const ownFiles = 3;

/** Descriptors of the stores at most, and of the process' own files. */
export function storeNeeds({ stores }: Config): number {
  const { records, sessions, records_connections: pool } = stores;
  return (
    ownFiles +
    (records.kind === 'sqlite' ? perSqliteFile : pool + 1 + replaced) +
    (sessions.kind === 'sqlite' ? perSqliteFile : redisClients * connectionsOf(sessions) + replaced)
  );
}

/** Of one client. */
function connectionsOf(address: RedisAddress): number {
  switch (address.kind) {
    case 'server':
    case 'socket':
      return 1;
    case 'sentinel':
      return 1 + address.sentinels.length;
    case 'cluster':
      return Math.max(clusterNodes, address.nodes.length);
  }
}

/** What a configuration needs for its upstreams and identity providers. */
export function outboundNeeds({ upstreams, identity_providers }: Config): OutboundNeeds {
  const each = Object.values(upstreams).map((upstream) => ({
    perConnection: upstreamDescriptors(upstream),
    connections: upstream.max_connections,
  }));
  const ofProviders = maxProviderConnections * Object.keys(identity_providers).length;
  return {
    atMost: each.reduce(
      (sum, { perConnection, connections }) => sum + perConnection * connections,
      ofProviders,
    ),
    perRequest: Math.max(1, ...each.map(({ perConnection }) => perConnection)),
  };
}

/** Descriptors of one connection: the echo is in this process, at the other end. */
export function upstreamDescriptors({ url }: Pick<Config['upstreams'][string], 'url'>): number {
  return url.kind === 'echo' ? 2 : 1;
}
