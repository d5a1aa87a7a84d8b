import { readFileSync } from 'node:fs';
import type { Config, RouteConfig, UpstreamConfig } from './config/schema.ts';
import { type Echo, startEcho } from './proxy/echo.ts';
import { createRoute, createRouteTable, type RouteTable } from './proxy/route-table.ts';
import { createUpstream, type Upstream } from './proxy/upstream.ts';

/** The configured routes with the upstreams they lead to. */
export interface ComposedRoutes {
  readonly table: RouteTable;
  /** Closes every connection to every upstream. */
  close(): Promise<void>;
}

/** Builds upstreams and routes from the configuration; starts the echo where one is named. */
export async function composeRoutes(config: Config): Promise<ComposedRoutes> {
  const usesEcho = Object.values(config.upstreams).some(({ url }) => url === 'builtin:echo');
  const echo = usesEcho ? await startEcho() : null;
  const upstreams = new Map<string, Upstream>();

  /** A route with its own time to connect has a pool of its own: the time belongs to the connection. */
  function upstreamOf(route: RouteConfig): Upstream {
    const settings = config.upstreams[route.upstream]!;
    const connectTimeoutMs = route.connect_timeout ?? settings.connect_timeout;
    const id = `${route.upstream} ${connectTimeoutMs}`;
    let upstream = upstreams.get(id);
    if (upstream === undefined) {
      upstream = openUpstream(route.upstream, settings, connectTimeoutMs, echo);
      upstreams.set(id, upstream);
    }
    return upstream;
  }

  const routes = config.routes.map((route) => {
    const settings = config.upstreams[route.upstream]!;
    const path = route.exact ?? route.prefix!;
    return createRoute({
      label: path,
      path,
      exact: route.exact !== undefined,
      upstream: upstreamOf(route),
      isPublic: route.public,
      acceptsSession: route.accept.includes('session'),
      acceptsApiKey: route.accept.includes('api_key'),
      scopes: route.scopes,
      maxBodyBytes: route.max_body ?? Number.POSITIVE_INFINITY,
      responseTimeoutMs: route.response_timeout ?? settings.response_timeout,
      idleTimeoutMs: route.idle_timeout ?? settings.idle_timeout,
    });
  });
  return {
    table: createRouteTable(routes),
    async close() {
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
      await echo?.close();
    },
  };
}

function openUpstream(
  name: string,
  settings: UpstreamConfig,
  connectTimeoutMs: number,
  echo: Echo | null,
): Upstream {
  const { url, tls } = settings;
  const isSocket = url.startsWith('unix:');
  return createUpstream({
    name,
    origin: url === 'builtin:echo' ? echo!.origin : isSocket ? 'http://localhost' : url,
    socketPath: isSocket ? url.slice('unix:'.length) : null,
    host: settings.host ?? null,
    tls:
      tls === undefined
        ? null
        : { ca: pem(tls.ca), cert: pem(tls.cert), key: pem(tls.key), serverName: tls.server_name },
    connectTimeoutMs,
    maxConnections: settings.max_connections,
    maxWaiting: settings.max_waiting,
  });
}

function pem(file: string | undefined): Buffer | undefined {
  return file === undefined ? undefined : readFileSync(file);
}
