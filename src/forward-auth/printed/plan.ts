import type { Config, DecisionListenerConfig } from '../../config/sections/schema.ts';
import {
  credentialNames,
  droppedNames,
  laterNames,
  methodOverrideNames,
  trailerNames,
} from '../../rules/known-headers.ts';
import { ownAreas } from '../../rules/own-areas.ts';
import { answeredNames } from '../answer.ts';
import { modes } from '../modes.ts';
import { describesHost } from '../question.ts';
import {
  listenerAddress,
  parseListen,
  parseService,
  requireHost,
  type ServerAddress,
  serviceOf,
} from './addresses.ts';
import { type HostPlan, planHosts } from './plan-hosts.ts';

/** Facts from which a proxy's configuration is printed. */
export interface ProxyPlan {
  readonly listen: ServerAddress;
  /** The listener that the proxy asks. */
  readonly decisions: ServerAddress;
  /** Postern's public listener, which serves its own paths. */
  readonly gateway: ServerAddress;
  /** The service that the proxy forwards to. */
  readonly service: ServerAddress;
  /** The hosts, where the proxy has to say which one each request is for; null: it doesn't tell them apart. */
  readonly hosts: readonly HostPlan[] | null;
  /** Paths that are forwarded to the gateway without a decision, with all paths below them. */
  readonly ownAreas: readonly string[];
  /** Paths that go there on every host, with all paths below them. */
  readonly pageAreas: readonly string[];
  /** Headers of a decision that identify the caller. */
  readonly identity: readonly string[];
  /** All headers of a decision that replace the client's. */
  readonly copied: readonly string[];
  /** True if the service gets neither `Authorization` nor `X-API-Key`, because no route passes its own. */
  readonly hidesCredentials: boolean;
  /** Headers by which a browser says where a request comes from, if decisions depend on them. */
  readonly browserNames: readonly string[];
  /** Headers in lower case that describe a request to Postern: a client's own must not reach the service. */
  readonly describing: readonly string[];
  /** Further headers of a client that must not reach the service, and that Postern would refuse. */
  readonly deleted: readonly string[];
  /** {@link laterNames} in lower case, so that a printed configuration stays right once Postern answers with them. */
  readonly reserved: readonly string[];
  /** Names in lower case that begin as Postern's headers and are an application's own: they reach the service. */
  readonly passed: readonly string[];
}

/** Options of the command line. Defaults come from the configuration, except for `listen`: 0.0.0.0:8000. */
export interface PlanOptions {
  /** Name or IP address at which the proxy reaches Postern. */
  readonly host?: string | undefined;
  readonly service?: string | undefined;
  readonly listen?: string | undefined;
}

/** Headers that upstreams may trust about the sender; the proxy deletes a client's unless it overwrites them. */
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

/** Headers that tell pages of other origins, and navigations, from the rest. */
const browserNames = ['Origin', 'Sec-Fetch-Site', 'Sec-Fetch-Mode', 'Sec-Fetch-Dest', 'Accept'];

/** Headers that every printed configuration sets. Traefik sets all headers of its mode itself, without any configuration. */
const overwrittenNames = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/** Plans the configuration of a proxy that asks a listener. Throws a RangeError whose message states the broken rule. */
export function planProxy(config: Config, listener: DecisionListenerConfig, options: PlanOptions): ProxyPlan {
  const { api_path: apiPath, listen, endpoints, headers, upstreams, web } = config;
  const identity = answeredNames(
    Object.values(upstreams).flatMap((upstream) => Object.keys(upstream.identity_headers)),
  );
  const { setByProxy, described } = modes[listener.mode];
  const namesHosts = describesHost(listener, config);
  const ofHost = namesHosts && described?.host === 'x-original-host' ? [described.host] : [];
  const describing = described === null ? [] : [described.method, described.target, ...ofHost];
  const overwritten = listener.mode === 'traefik' ? setByProxy : overwrittenNames;
  const hidesCredentials = !config.routes.some((route) => route.authorization === 'pass');
  const credentials = hidesCredentials ? [] : ['Authorization', 'X-API-Key'];
  const copied = [...identity, 'X-Request-Id', 'Cookie', ...credentials];
  const kept = new Set([...copied.map((name) => name.toLowerCase()), ...overwritten, ...describing]);
  const deleted = [
    ...droppedNames,
    ...forwardedNames,
    ...(headers.method_override === 'pass' ? [] : methodOverrideNames),
    ...headers.drop.map((name) => name.toLowerCase()),
    ...fixedNamesOf(upstreams),
  ];
  if (options.host !== undefined) requireHost(options.host);
  return {
    listen: parseListen(options.listen ?? '0.0.0.0:8000'),
    decisions: listenerAddress(listener, options.host),
    gateway: listenerAddress(listen, options.host),
    service: parseService(options.service ?? serviceOf(config)),
    hosts: namesHosts ? planHosts(config, options.service) : null,
    ownAreas: ownAreas((name) => endpoints[name] === 'upstream', { apiPath, webPath: web?.path }),
    pageAreas: web === undefined ? [] : [web.path],
    identity,
    copied,
    hidesCredentials,
    browserNames: config.api_keys.basic ? browserNames : [],
    describing,
    deleted: [...new Set(deleted)].filter((name) => !kept.has(name) && !trailerNames.has(name)),
    reserved: laterNames.map((name) => name.toLowerCase()),
    passed: listener.assertion === undefined ? headers.pass.map((name) => name.toLowerCase()) : [],
  };
}

/** Names, in lower case, of the headers that upstreams trust as Postern's whatever their value; the proxy sets its own. */
function fixedNamesOf(upstreams: Config['upstreams']): readonly string[] {
  const names = Object.values(upstreams).flatMap(({ headers }) => Object.keys(headers));
  return names.map((name) => name.toLowerCase()).filter((name) => !credentialNames.has(name));
}
