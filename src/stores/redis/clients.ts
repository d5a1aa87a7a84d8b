import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type ClientTlsPaths, loadClientTls } from '../../config/client-tls.ts';
import type { RedisAddress } from './address.ts';
import { CheckedConnector, CheckedSentinelConnector } from './checked-connectors.ts';

/** How to reach a Redis. */
export interface RedisAccess {
  readonly address: RedisAddress;
  /** Of an ACL user; they go before those of the address. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** PEM files; undefined: TLS only where the address says so, by the authorities Node trusts. */
  readonly tls: ClientTlsPaths | undefined;
}

/** A client that sends commands. */
export type CommandClient = Redis | Cluster;

const connectTimeoutMs = 1_000;
const retryDelayMs = 150;

/**
 * Opens a client for commands: it fails at once while there is no connection, and sends nothing a second time, so that
 * nothing is done of which the caller has been told that it wasn't. Throws when a file of `tls` can't be read.
 */
export function openCommandClient(access: RedisAccess): CommandClient {
  const { address } = access;
  const options = commonOptions(access);
  if (address.kind !== 'cluster') return new Redis({ ...options, ...placeOptions(access) });
  const { maxRetriesPerRequest: _, enableOfflineQueue: __, ...nodeOptions } = options;
  return new Cluster([...address.nodes], {
    redisOptions: { ...nodeOptions, maxRetriesPerRequest: 0 },
    // Connections to nodes are made when they are first needed; what waits for one too long is refused by its script.
    enableOfflineQueue: true,
    clusterRetryStrategy: () => retryDelayMs,
    // No second sending after a lost connection; MOVED and ASK were not carried out where they were sent.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    maxRedirections: 3,
    slotsRefreshTimeout: connectTimeoutMs,
    slotsRefreshInterval: 2_000,
    // Names of certificates must be looked up by name, so names stay what they are.
    dnsLookup: (host, done) => done(null, host),
  });
}

/** Opens a client that listens; under Cluster at one node, for what is told at any is told at all. */
export function openListeningClient(access: RedisAccess, commands: CommandClient): Redis | undefined {
  const options = commonOptions(access);
  if (!(commands instanceof Cluster)) return new Redis({ ...options, ...placeOptions(access) });
  const masters = commands.nodes('master');
  const node = masters[Math.floor(Math.random() * masters.length)];
  if (node === undefined) return undefined;
  const { host = '', port = 0 } = node.options;
  return new Redis({ ...options, host, port });
}

function commonOptions(access: RedisAccess): RedisOptions {
  const { address } = access;
  const tls =
    access.tls === undefined && !(address.kind === 'server' && address.tls)
      ? undefined
      : loadClientTls(access.tls);
  const username = access.username ?? address.username;
  const password = access.password ?? address.password;
  return {
    // Under RESP3 ioredis would read a response in the place of what is told.
    protocol: 2,
    Connector: CheckedConnector,
    db: address.db,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    connectionName: 'postern',
    disableClientInfo: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: retryDelayMs,
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: retryDelayMs,
    retryStrategy: () => retryDelayMs,
  };
}

function placeOptions({ address, sentinelPassword, tls }: RedisAccess): RedisOptions {
  switch (address.kind) {
    case 'server':
      return { ...address.at };
    case 'socket':
      return { path: address.path };
    case 'sentinel':
      return {
        Connector: CheckedSentinelConnector,
        sentinels: [...address.sentinels],
        name: address.name,
        enableTLSForSentinelMode: tls !== undefined,
        sentinelRetryStrategy: () => retryDelayMs,
        // One that takes connections and never answers is passed over.
        sentinelCommandTimeout: connectTimeoutMs,
        ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
      };
    case 'cluster':
      return {};
  }
}
