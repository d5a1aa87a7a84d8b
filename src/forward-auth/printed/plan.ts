import { isIP } from 'node:net';
import { noUpstream } from '../../config/sections/routes.ts';
import type { Config, DecisionListenerConfig } from '../../config/sections/schema.ts';
import { type HostAndPort, hasValidPort, hostPattern, parseHost } from '../../config/values/authority.ts';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';
import { droppedNames, laterNames, methodOverrideNames, trailerNames } from '../../rules/known-headers.ts';
import { ownAreas } from '../../rules/own-areas.ts';
import { answeredNames } from '../answer.ts';
import { modes } from '../modes.ts';

/** An address that something listens on. */
export interface ServerAddress {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly scheme: 'http' | 'https';
  /** `host:port`, IPv6 in brackets. */
  readonly authority: string;
  readonly origin: string;
}

/** The facts that a proxy's configuration is printed from. */
export interface ProxyPlan {
  readonly listen: ServerAddress;
  /** The listener that the proxy asks. */
  readonly decisions: ServerAddress;
  /** Postern's public listener, which serves its own paths. */
  readonly gateway: ServerAddress;
  /** The service that the proxy forwards to. */
  readonly service: ServerAddress;
  /** Paths, each with all below it, that are forwarded to the gateway without a decision. */
  readonly ownAreas: readonly string[];
  /** Headers of a decision that identify the caller. */
  readonly identity: readonly string[];
  /** All headers of a decision that replace the client's. */
  readonly copied: readonly string[];
  /** Headers in lower case that describe a request to Postern: a client's own must not reach the service. */
  readonly describing: readonly string[];
  /** Further headers of a client that must not reach the service, and that Postern would refuse. */
  readonly deleted: readonly string[];
  /** {@link laterNames} in lower case: a printed configuration stays right when Postern answers them. */
  readonly reserved: readonly string[];
}

/** Options of the command line; each defaults to the configuration. */
export interface PlanOptions {
  /** The name under which the proxy finds Postern. */
  readonly host?: string | undefined;
  readonly service?: string | undefined;
  readonly listen?: string | undefined;
}

/** Headers that upstreams trust about the sender, though nothing in this setup sets them. */
const forwardedNames = [
  'x-forwarded-prefix',
  'x-forwarded-user',
  'x-forwarded-email',
  'x-forwarded-groups',
  'x-forwarded-preferred-username',
  'x-forwarded-method',
  'x-forwarded-uri',
  'x-forwarded-server',
  'x-forwarded-port',
  'x-forwarded-scheme',
  'x-forwarded-ssl',
];

/** Headers that every printed configuration sets. Traefik by itself sets all of its mode. */
const overwrittenNames = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/** Plans the configuration of a proxy that asks a listener. Throws a RangeError whose message is the broken rule. */
export function planProxy(config: Config, listener: DecisionListenerConfig, options: PlanOptions): ProxyPlan {
  const { listen, endpoints, headers, upstreams, web } = config;
  const identity = answeredNames(
    Object.values(upstreams).flatMap((upstream) => Object.keys(upstream.identity_headers)),
  );
  const { setByProxy, described } = modes[listener.mode];
  const describing = described === null ? [] : [described.method, described.target];
  const overwritten = listener.mode === 'traefik' ? setByProxy : overwrittenNames;
  const copied = [...identity, 'X-Request-Id', 'Cookie'];
  const kept = new Set([...copied.map((name) => name.toLowerCase()), ...overwritten, ...describing]);
  const deleted = [
    ...droppedNames,
    ...forwardedNames,
    ...(headers.method_override === 'pass' ? [] : methodOverrideNames),
    ...headers.drop.map((name) => name.toLowerCase()),
  ];
  if (options.host !== undefined) requireHost(options.host);
  return {
    listen: parseListen(options.listen ?? '0.0.0.0:8000'),
    decisions: listenerAddress(listener, options.host),
    gateway: listenerAddress(listen, options.host),
    service: parseService(options.service ?? serviceOf(config)),
    ownAreas: ownAreas((name) => endpoints[name] === 'upstream', web?.path),
    identity,
    copied,
    describing,
    deleted: [...new Set(deleted)].filter((name) => !kept.has(name) && !trailerNames.has(name)),
    reserved: laterNames.map((name) => name.toLowerCase()),
  };
}

function createAddress({ host, port }: HostAndPort, tls = false): ServerAddress {
  const scheme = tls ? 'https' : 'http';
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { host, port, tls, scheme, authority, origin: `${scheme}://${authority}` };
}

function listenerAddress(
  { host, port, tls }: HostAndPort & { tls?: object | undefined },
  name?: string,
): ServerAddress {
  return createAddress({ host: name ?? (isAnyAddress(host) ? '127.0.0.1' : host), port }, tls !== undefined);
}

/** True if a listener's address stands for every interface. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function requireHost(text: string): void {
  if (isIP(text) === 0 && !/^[A-Za-z0-9._-]+$/.test(text))
    throw new RangeError('--host must be a name or an address, without a port');
}

const listenPattern = new RegExp(`^${hostPattern}$`);

function parseListen(text: string): ServerAddress {
  if (!listenPattern.test(text) || !/:\d+$/.test(text) || !hasValidPort(text))
    throw new RangeError('--listen must be HOST:PORT');
  return createAddress(parseHost(text, 0));
}

function parseService(url: string): ServerAddress {
  try {
    const address = parseUpstreamAddress(url);
    if (address.kind === 'server') return createAddress(address, address.tls);
  } catch {
    // The rule in its message covers other kinds of address, too.
  }
  throw new RangeError('--service must be http(s)://HOST:PORT');
}

/** The first upstream of a route that the proxy can reach itself. */
function serviceOf({ routes, upstreams }: Config): string {
  for (const { upstream } of routes) {
    const url = upstream === noUpstream ? undefined : upstreams[upstream]?.url;
    if (url?.kind === 'server') return `${url.tls ? 'https' : 'http'}://${url.authority}`;
  }
  return 'http://127.0.0.1:9000';
}
