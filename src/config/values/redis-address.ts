import {
  type HostAndPort,
  hasValidPort,
  hostPattern,
  parseHost,
  parseUserinfo,
  userinfoPattern,
} from './authority.ts';

/** The address of a session store in Redis. */
export type RedisAddress = {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number;
} & (
  | { readonly kind: 'server'; readonly at: HostAndPort; readonly tls: boolean }
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly HostAndPort[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] }
);

const defaultPort = 6379;
const defaultSentinelPort = 26_379;

const hosts = `(${hostPattern}(?:,${hostPattern})*)`;
const serverPattern = new RegExp(`^redis(s?)://${userinfoPattern}(${hostPattern})(?:/(\\d{1,3}))?$`);
const socketPattern = /^redis\+unix:([^\s\0?#]+)$/;
const sentinelPattern = new RegExp(
  `^redis\\+sentinel://${userinfoPattern}${hosts}/([A-Za-z0-9._-]+)(?:/(\\d{1,3}))?$`,
);
const clusterPattern = new RegExp(`^redis\\+cluster://${userinfoPattern}${hosts}/?$`);

/**
 * Reads `redis://`, `rediss://`, `redis+sentinel://HOST,HOST/NAME`, `redis+cluster://HOST,HOST` and `redis+unix:PATH`;
 * user and password are percent-decoded. Undefined for anything else; throws a RangeError, whose message never contains
 * the address, for malformed percent-encoding.
 */
export function readRedisAddress(text: string): RedisAddress | undefined {
  const [, path] = socketPattern.exec(text) ?? [];
  if (path !== undefined) return { kind: 'socket', path, db: 0, username: undefined, password: undefined };
  return parseServer(text) ?? parseSentinel(text) ?? parseCluster(text);
}

function parseServer(text: string): RedisAddress | undefined {
  const [, secure, userinfo, host, db] = serverPattern.exec(text) ?? [];
  if (host === undefined || !hasValidPort(host)) return undefined;
  const at = parseHost(host, defaultPort);
  return { kind: 'server', at, tls: secure === 's', ...accessOf(userinfo, db) };
}

function parseSentinel(text: string): RedisAddress | undefined {
  const [, userinfo, list, name, db] = sentinelPattern.exec(text) ?? [];
  const sentinels = list === undefined ? undefined : parseHosts(list, defaultSentinelPort);
  if (sentinels === undefined || name === undefined) return undefined;
  return { kind: 'sentinel', sentinels, name, ...accessOf(userinfo, db) };
}

function parseCluster(text: string): RedisAddress | undefined {
  const [, userinfo, list] = clusterPattern.exec(text) ?? [];
  const nodes = list === undefined ? undefined : parseHosts(list, defaultPort);
  return nodes && { kind: 'cluster', nodes, ...accessOf(userinfo) };
}

function parseHosts(list: string, port: number): HostAndPort[] | undefined {
  const all = list.split(',');
  return all.every(hasValidPort) ? all.map((host) => parseHost(host, port)) : undefined;
}

function accessOf(userinfo: string | undefined, db = '0') {
  const { username, password } = parseUserinfo(userinfo);
  // Redis has neither empty user names nor empty passwords.
  return { username: username || undefined, password: password || undefined, db: Number(db) };
}
