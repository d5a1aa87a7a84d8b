/** The location of one server. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** The location of a session store in Redis, parsed from its address in the configuration. */
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

/** Whether an address names a session store in Redis. */
export function isRedisAddress(address: string): boolean {
  return /^redis(?:s|\+sentinel|\+cluster)?:\/\/|^redis\+unix:/.test(address);
}

/** Parses an address that the configuration's rules have accepted; user and password are percent-decoded. */
export function parseRedisAddress(address: string): RedisAddress {
  if (address.startsWith('redis+unix:')) {
    const path = address.slice('redis+unix:'.length);
    return { kind: 'socket', path, db: 0, username: undefined, password: undefined };
  }
  const parts = /^(rediss?|redis\+sentinel|redis\+cluster):\/\/(?:([^@/]*)@)?([^/]*)\/?(.*)$/.exec(address);
  if (parts === null) throw new TypeError('not a Redis address');
  const [, scheme, userinfo, hosts = '', rest = ''] = parts;
  const credentials = parseUserinfo(userinfo);
  if (scheme === 'redis+cluster')
    return { kind: 'cluster', nodes: parseHosts(hosts, defaultPort), db: 0, ...credentials };
  if (scheme === 'redis+sentinel') {
    const [name = '', db] = rest.split('/');
    const sentinels = parseHosts(hosts, defaultSentinelPort);
    return { kind: 'sentinel', sentinels, name, db: Number(db ?? 0), ...credentials };
  }
  const [at] = parseHosts(hosts, defaultPort);
  return { kind: 'server', at: at!, tls: scheme === 'rediss', db: Number(rest), ...credentials };
}

function parseUserinfo(userinfo = ''): { username: string | undefined; password: string | undefined } {
  const colon = userinfo.indexOf(':');
  const decode = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  return {
    username: decode(colon < 0 ? userinfo : userinfo.slice(0, colon)),
    password: colon < 0 ? undefined : decode(userinfo.slice(colon + 1)),
  };
}

function parseHosts(text: string, port: number): HostAndPort[] {
  return text.split(',').map((entry) => {
    const parts = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry);
    return { host: parts?.[1] ?? parts?.[2] ?? '', port: Number(parts?.[3] ?? port) };
  });
}
