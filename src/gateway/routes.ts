import type { ReadFile } from '../config/configured-files.ts';
import { noUpstream } from '../config/sections/routes.ts';
import type { Config } from '../config/sections/schema.ts';
import { loadClientTls } from '../config/values/client-tls.ts';
import { passedBy } from '../config/values/passed-by.ts';
import { parseUpstreamAddress, type UpstreamAddress } from '../config/values/upstream-address.ts';
import { Upstream, type UpstreamOptions } from '../http1/client/client-pool.ts';
import { type Echo, type EchoPage, startEcho } from '../proxy/echo.ts';
import { createRoute, createRouteTable, type RouteTable } from '../proxy/route-table.ts';
import { createSentTarget } from '../proxy/sent-target.ts';
import { hostAndPort } from '../proxy/upstream-failure.ts';
import { nameOfOrigin } from '../rules/name-of-origin.ts';
import type { Assertions } from './assertions.ts';
import type { LastingParts } from './lasting-parts.ts';
import { routeLabel } from './routes-only-in.ts';
import { composeUpstreamHeaders } from './upstream-headers.ts';

/** The configured routes with the upstreams they lead to. */
export interface ComposedRoutes {
  /** The routes of every host that no entry of `hosts` names. */
  readonly table: RouteTable;
  /** The routes of each entry of `hosts`, in their order. */
  readonly tablesOfHosts: readonly RouteTable[];
  readonly upstreams: readonly Upstream[];
  close(): Promise<void>;
}

type RouteParts = LastingParts & { readonly readFile: ReadFile; readonly assertions: Assertions };

/** Builds upstreams and routes; starts the echo if an upstream is `builtin:echo`, with `echoPage` for browsers. */
export async function composeRoutes(
  config: Config,
  parts: RouteParts,
  echoPage?: EchoPage,
): Promise<ComposedRoutes> {
  const usesEcho = Object.values(config.upstreams).some(({ url }) => url.kind === 'echo');
  const echo = usesEcho ? await startEcho(echoPage) : null;
  const upstreams = new Map<string, Upstream>();
  for (const name of Object.keys(config.upstreams))
    upstreams.set(name, composeUpstream(name, config, echo, parts));
  const headersOf = composeUpstreamHeaders(config);
  const removePools = parts.descriptors.addPools([...upstreams.values()]);

  const compose = (route: Config['routes'][number]) => {
    const settings = route.upstream === noUpstream ? undefined : config.upstreams[route.upstream]!;
    const path = route.exact ?? route.prefix!;
    return createRoute({
      label: routeLabel(route),
      path,
      exact: route.exact !== undefined,
      passes: passedBy((key) => (route.paths?.[key] ?? config.paths[key]) === 'pass'),
      strippedPrefix: route.strip_prefix ?? '',
      sentTarget: createSentTarget(
        route.strip_prefix ?? '',
        settings === undefined ? '' : basePathOf(settings.url),
      ),
      upstream: upstreams.get(route.upstream) ?? null,
      upstreamAddress: settings === undefined ? '' : addressTextOf(settings.url),
      ...headersOf(route.upstream),
      assert: parts.assertions.assertFor(route.upstream),
      isPublic: route.public,
      isForBrowsers: route.browser,
      passesAuthorization: route.authorization === 'pass',
      challenge: route.challenge,
      passesPreflights: route.preflight === 'upstream' || route.cors === 'upstream',
      leavesCors: route.cors === 'upstream',
      acceptsSession: route.accept.includes('session'),
      acceptsApiKey: route.accept.includes('api_key'),
      scopes: route.scopes,
      upgrades: new Set(route.upgrades),
      maxBodyBytes: route.max_body ?? Number.POSITIVE_INFINITY,
      leastBodyBytesPerSecond: route.body_rate ?? config.limits.body_rate,
      connectTimeoutMs: route.connect_timeout ?? settings?.connect_timeout ?? 0,
      responseTimeoutMs: route.response_timeout ?? settings?.response_timeout ?? 0,
      idleTimeoutMs: route.idle_timeout ?? settings?.idle_timeout ?? 0,
    });
  };
  const tableOf = (host: string | undefined) =>
    createRouteTable(config.routes.filter((route) => route.host === host).map(compose));
  return {
    table: tableOf(undefined),
    tablesOfHosts: (config.hosts ?? []).map((origin) => tableOf(nameOfOrigin(origin))),
    upstreams: [...upstreams.values()],
    async close() {
      removePools();
      for (const upstream of upstreams.values()) upstream.close();
      await echo?.close();
    },
  };
}

function composeUpstream(
  name: string,
  config: Config,
  echo: Echo | null,
  { engine, descriptors, names, readFile }: RouteParts,
): Upstream {
  const settings = config.upstreams[name]!;
  const url = settings.url.kind === 'echo' ? parseUpstreamAddress(echo!.origin) : settings.url;
  const { tls } = settings;
  const usesTls = url.kind === 'server' && url.tls;
  return new Upstream(
    {
      name,
      ...locationOf(url),
      host: settings.host ?? null,
      tls: usesTls ? { ...loadClientTls(tls, readFile), serverName: tls?.server_name } : null,
      maxConnections: settings.max_connections,
      maxWaiting: settings.max_waiting,
      ...timesOf(name, config),
      findAddresses: names.findAddresses,
      beforeConnect: descriptors.makeRoom,
      spareSockets: descriptors.spareSockets,
    },
    engine.openConnection,
  );
}

function locationOf(url: UpstreamAddress): Pick<UpstreamOptions, 'address' | 'authority'> {
  switch (url.kind) {
    case 'server':
      return { address: { host: url.host, port: url.port }, authority: url.authority };
    case 'socket':
      return { address: { socketPath: url.path }, authority: 'localhost' };
    case 'echo':
      throw new TypeError('the echo has an address only once it runs');
  }
}

/** The path that is put before that of each request; empty: none. */
function basePathOf(url: UpstreamAddress): string {
  return url.kind === 'server' ? url.basePath : '';
}

/** Address of an upstream as logged with its failures. */
function addressTextOf(url: UpstreamAddress): string {
  switch (url.kind) {
    case 'server':
      return hostAndPort(url.host, url.port);
    case 'socket':
      return url.path;
    case 'echo':
      return 'builtin:echo';
  }
}

/** The shortest connect timeout, and the shortest timeout of any kind, of an upstream and its routes. */
function timesOf(
  name: string,
  config: Config,
): Pick<UpstreamOptions, 'connectTimeoutMs' | 'shortestTimeoutMs'> {
  const settings = [config.upstreams[name]!, ...config.routes.filter((route) => route.upstream === name)];
  const connects = settings.map((each) => each.connect_timeout);
  const others = settings.flatMap((each) => [each.response_timeout, each.idle_timeout]);
  const shortest = (times: readonly (number | undefined)[]) =>
    Math.min(...times.filter((time) => time !== undefined));
  return { connectTimeoutMs: shortest(connects), shortestTimeoutMs: shortest([...connects, ...others]) };
}
