import { isIP } from 'node:net';
import { noUpstream } from '../../config/sections/routes.ts';
import type { Config, DecisionListenerConfig } from '../../config/sections/schema.ts';
import { type HostAndPort, hasValidPort, hostPattern, parseHost } from '../../config/values/authority.ts';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';
import { droppedNames, laterNames, methodOverrideNames, trailerNames } from '../../rules/known-headers.ts';
import { ownAreas } from '../../rules/own-areas.ts';
import { answeredNames } from '../answer.ts';
import { modes } from '../modes.ts';

/** Where something listens. */
export interface Place {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** What a proxy's configuration is made of. */
export interface ProxyPlan {
  /** Where the proxy listens. */
  readonly listen: Omit<Place, 'tls'>;
  /** Where it asks. */
  readonly decisions: Place;
  /** Postern's public listener, which serves its own paths. */
  readonly gateway: Place;
  /** What the proxy forwards to. */
  readonly service: Place;
  /** Paths, each with all below it, that lead to the gateway, unasked. */
  readonly ownAreas: readonly string[];
  /** Headers by which an answer says who is calling. */
  readonly identity: readonly string[];
  /** All that the proxy copies from an answer over what the client sent. */
  readonly copied: readonly string[];
  /** Headers by which the proxy tells Postern what is asked, in lower case: a client's own must not reach the service. */
  readonly describing: readonly string[];
  /** Further headers of a client that must not reach the service, and that Postern would refuse. */
  readonly deleted: readonly string[];
  /** {@link laterNames} in lower case: what is printed now stays right when they are answered. */
  readonly reserved: readonly string[];
}

/** What the command line says about it; anything left out is as in the configuration. */
export interface PlanOptions {
  /** The name under which the proxy finds Postern. */
  readonly host?: string | undefined;
  /** The URL of what the proxy forwards to. */
  readonly service?: string | undefined;
  /** HOST:PORT of the proxy. */
  readonly listen?: string | undefined;
}

/** What upstreams take for facts about the sender, though no part of this setup sets it. */
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

/** What every printed configuration sets. Traefik by itself sets the others of its mode, too. */
const overwrittenNames = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/** Plans the configuration of the proxy that asks on that listener. Throws a RangeError, whose message is the rule. */
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
    decisions: placeOf(listener, options.host),
    gateway: placeOf(listen, options.host),
    service: parseService(options.service ?? serviceOf(config)),
    ownAreas: ownAreas((name) => endpoints[name] === 'upstream', web?.path),
    identity,
    copied,
    describing,
    deleted: [...new Set(deleted)].filter((name) => !kept.has(name) && !trailerNames.has(name)),
    reserved: laterNames.map((name) => name.toLowerCase()),
  };
}

function placeOf(listener: { host: string; port: number; tls?: object | undefined }, host?: string): Place {
  const isAny = listener.host === '0.0.0.0' || listener.host === '::';
  return {
    host: host ?? (isAny ? '127.0.0.1' : listener.host),
    port: listener.port,
    tls: listener.tls !== undefined,
  };
}

function requireHost(text: string): void {
  if (isIP(text) === 0 && !/^[A-Za-z0-9._-]+$/.test(text))
    throw new RangeError('--host must be a name or an address, without a port');
}

const listenPattern = new RegExp(`^${hostPattern}$`);

function parseListen(text: string): HostAndPort {
  if (!listenPattern.test(text) || !/:\d+$/.test(text) || !hasValidPort(text))
    throw new RangeError('--listen must be HOST:PORT');
  return parseHost(text, 0);
}

function parseService(url: string): Place {
  try {
    const address = parseUpstreamAddress(url);
    if (address.kind === 'server') return address;
  } catch {
    // Its rule is about other kinds of address, too.
  }
  throw new RangeError('--service must be http(s)://HOST:PORT');
}

/** Throws a RangeError for an address behind TLS, where the proxy compares only names with what a certificate says. */
export function requireNames(proxy: string, { decisions, gateway, service }: ProxyPlan): void {
  const isUnproved = ({ tls, host }: Place) => tls && isIP(host) !== 0;
  const why = `${proxy} compares names with certificates, no addresses`;
  if (isUnproved(decisions) || isUnproved(gateway)) throw new RangeError(`${why}: give --host a name`);
  if (isUnproved(service)) throw new RangeError(`${why}: give --service a name`);
}

/** The first upstream of a route that the proxy can reach itself. */
function serviceOf({ routes, upstreams }: Config): string {
  for (const { upstream } of routes) {
    const url = upstream === noUpstream ? undefined : upstreams[upstream]?.url;
    if (url?.kind === 'server') return `${url.tls ? 'https' : 'http'}://${url.authority}`;
  }
  return 'http://127.0.0.1:9000';
}

/** `host:port`, IPv6 in brackets. */
export function authorityOf({ host, port }: Omit<Place, 'tls'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The origin of a place. */
export function originOf(place: Place): string {
  return `${place.tls ? 'https' : 'http'}://${authorityOf(place)}`;
}

/** A regular expression for the paths of the areas, as all these proxies read it. */
export function ownPattern(areas: readonly string[]): string {
  return `^(?:${areas.map((area) => area.replaceAll('.', '\\.')).join('|')})(?:/.*)?$`;
}
