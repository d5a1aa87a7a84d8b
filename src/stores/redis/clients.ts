import type { LookupFunction } from 'node:net';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { ReadFile } from '../../config/configured-files.ts';
import { type ClientTlsPaths, loadClientTls } from '../../config/values/client-tls.ts';
import type { RedisAddress } from '../../config/values/redis-address.ts';
import { CheckedConnector, CheckedSentinelConnector } from './checked-connectors.ts';

/** Address of Redis, credentials, and everything else that a connection needs. */
export interface RedisAccess {
  readonly address: RedisAddress;
  /** Name and password of an ACL user; they take precedence over those of the address. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** PEM files; undefined: TLS only if the address requires it, with the certificate authorities that Node trusts. */
  readonly tls: ClientTlsPaths | undefined;
  /** Reads the files of `tls`; default: from the disk. */
  readonly readFile?: ReadFile | undefined;
  /** Resolves the names of servers; default: getaddrinfo(3). */
  readonly lookup?: LookupFunction | undefined;
}

/** A client that sends commands. */
export type CommandClient = Redis | Cluster;

const connectTimeoutMs = 1_000;
const retryDelayMs = 150;

/**
 * Opens a client for commands: they fail at once while there is no connection, and are never resent, so that none runs
 * after its caller was refused. Throws when a file of `tls` can't be read.
 */
export function openCommandClient(access: RedisAccess): CommandClient {
  const { address } = access;
  const options = commonOptions(access);
  if (address.kind !== 'cluster') return new Redis({ ...options, ...locationOptions(access) });
  const { maxRetriesPerRequest: _, enableOfflineQueue: __, ...nodeOptions } = options;
  return new Cluster([...address.nodes], {
    redisOptions: { ...nodeOptions, maxRetriesPerRequest: 0 },
    // The connection to a node is opened when first needed; the deadline of a script covers the wait for it.
    enableOfflineQueue: true,
    clusterRetryStrategy: () => retryDelayMs,
    // Nothing is resent after a lost connection; a command answered with MOVED or ASK was not executed there.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    maxRedirections: 3,
    slotsRefreshTimeout: connectTimeoutMs,
    slotsRefreshInterval: 2_000,
    // Certificates are verified by host name, so names are not resolved to addresses.
    dnsLookup: (host, done) => done(null, host),
  });
}

/** Opens a client for subscriptions, in a Cluster at any node, as notifications reach them all; undefined: no node is known. */
export function openSubscriptionClient(access: RedisAccess, commands: CommandClient): Redis | undefined {
  const options = commonOptions(access);
  if (!(commands instanceof Cluster)) return new Redis({ ...options, ...locationOptions(access) });
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
      : loadClientTls(access.tls, access.readFile);
  return {
    // Under RESP3 ioredis would take a reply for a notification.
    protocol: 2,
    Connector: CheckedConnector,
    // An option of our connectors.
    ...(access.lookup && { lookup: access.lookup }),
    db: address.db,
    username: access.username ?? address.username,
    password: access.password ?? address.password,
    tls,
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

function locationOptions({ address, sentinelPassword, tls }: RedisAccess): RedisOptions {
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
        // A Sentinel that accepts connections and never responds is skipped.
        sentinelCommandTimeout: connectTimeoutMs,
        ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
      };
    case 'cluster':
      return {};
  }
}
