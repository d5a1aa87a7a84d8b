import { isIP } from 'node:net';
import { noUpstream } from '../../config/sections/routes.ts';
import type { Config } from '../../config/sections/schema.ts';
import { type HostAndPort, hasValidPort, hostPattern, parseHost } from '../../config/values/authority.ts';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';

/** Address of a server. */
export interface ServerAddress {
  /** A name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly scheme: 'http' | 'https';
  /** `host:port`, IPv6 in brackets. */
  readonly authority: string;
  readonly origin: string;
}

function createAddress({ host, port }: HostAndPort, tls = false): ServerAddress {
  const scheme = tls ? 'https' : 'http';
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { host, port, tls, scheme, authority, origin: `${scheme}://${authority}` };
}

/** Address of one of Postern's listeners, for a proxy that reaches it by `name`. */
export function listenerAddress(
  { host, port, tls }: HostAndPort & { tls?: object | undefined },
  name?: string,
): ServerAddress {
  return createAddress({ host: name ?? (isAnyAddress(host) ? '127.0.0.1' : host), port }, tls !== undefined);
}

/** True if a listener's address stands for all interfaces. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Throws a RangeError unless the text is a name or an IP address. */
export function requireHost(text: string): void {
  if (isIP(text) === 0 && !/^[A-Za-z0-9._-]+$/.test(text))
    throw new RangeError('--host must be a name or an address, without a port');
}

const listenPattern = new RegExp(`^${hostPattern}$`);

/** Reads the proxy's own address. Throws a RangeError. */
export function parseListen(text: string): ServerAddress {
  if (!listenPattern.test(text) || !/:\d+$/.test(text) || !hasValidPort(text))
    throw new RangeError('--listen must be HOST:PORT');
  return createAddress(parseHost(text, 0));
}

/** Reads the URL of a service. Throws a RangeError. */
export function parseService(url: string): ServerAddress {
  try {
    const address = parseUpstreamAddress(url);
    if (address.kind === 'server' && address.basePath === '') return createAddress(address, address.tls);
  } catch {
    // The message below covers other kinds of addresses, too.
  }
  throw new RangeError('--service must be http(s)://HOST:PORT');
}

/**
 * URL of the first upstream that the proxy can reach itself, of the routes of hosts that pass the test; an example's URL if there
 * is none.
 */
export function serviceOf(
  { routes, upstreams }: Config,
  isOfHost: (host: string | undefined) => boolean = () => true,
): string {
  for (const { upstream, host } of routes) {
    const url = upstream === noUpstream || !isOfHost(host) ? undefined : upstreams[upstream]?.url;
    if (url?.kind === 'server') return `${url.tls ? 'https' : 'http'}://${url.authority}`;
  }
  return 'http://127.0.0.1:9000';
}
