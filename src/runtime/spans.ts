import type { Authenticate } from '../authenticate/authenticate.ts';
import type { Config } from '../config/sections/schema.ts';
import type { RecordsAddress, SessionsAddress } from '../config/values/store-addresses.ts';
import type { ProviderNetwork } from '../identity-providers/provider-network.ts';
import type { Forward } from '../proxy/forward-options.ts';
import { wrapCalls } from '../stores/wrap-calls.ts';
import type { SpanStart } from '../tracing/span.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Stores } from './stores.ts';

/** Operations that no request waits for. */
const untraced: ReadonlySet<string> = new Set([
  'version',
  'noteUse',
  'pruneAuditEvents',
  'takeCommandEvents',
  'countLive',
  'prune',
  'onEnded',
  'ping',
  'backup',
  'close',
]);

/** The same stores, with a span around each call. */
export function traceStores(stores: Stores, tracing: Tracing | null, { stores: addresses }: Config): Stores {
  if (tracing === null) return stores;
  const sessions = systemOf(addresses.sessions);
  return {
    records: tracedStore(stores.records, 'records', systemOf(addresses.records), tracing),
    sessions: tracedStore(stores.sessions, 'sessions', sessions, tracing),
    singleUse: tracedStore(stores.singleUse, 'single_use', sessions, tracing),
    attempts: tracedStore(stores.attempts, 'attempts', sessions, tracing),
    logs: stores.logs,
    close: () => stores.close(),
  };
}

function tracedStore<S extends object>(store: S, name: string, system: string, tracing: Tracing): S {
  return wrapCalls(store, (ask, operation) => {
    if (untraced.has(operation)) return ask;
    const start: SpanStart = {
      name: `${name}.${operation}`,
      kind: 'client',
      attributes: { 'db.system.name': system, 'db.operation.name': operation },
    };
    const startOf = () => start;
    return (...given) => tracing.around(startOf, () => ask(...given));
  });
}

/** OpenTelemetry's name for the system behind a store address. */
function systemOf({ kind }: RecordsAddress | SessionsAddress): string {
  if (kind === 'sqlite') return 'sqlite';
  return kind === 'postgres' ? 'postgresql' : 'redis';
}

const authentication: SpanStart = { name: 'authenticate', kind: 'internal', attributes: {} };

/** The same, with a span that names the kind of credential. */
export function traceAuthenticate(authenticate: Authenticate, tracing: Tracing | null): Authenticate {
  if (tracing === null) return authenticate;
  return (head, otherSchemesPass) =>
    tracing.around(
      () => authentication,
      (span) => {
        const { authorizationCount, apiKeyCount } = head;
        const presented = apiKeyCount > 0 ? 'api_key' : authorizationCount > 0 ? 'bearer' : 'none';
        span?.annotate({ 'postern.credential': presented });
        return authenticate(head, otherSchemesPass);
      },
    );
}

/** The same, with a span for each request; trace context is not propagated: the provider is a third party. */
export function traceNetwork(network: ProviderNetwork, tracing: Tracing | null): ProviderNetwork {
  if (tracing === null) return network;
  const startOf = (url: string, method: string) => (): SpanStart => {
    const { hostname, port, protocol, origin, pathname } = new URL(url);
    return {
      name: `${method} ${hostname}`,
      kind: 'client',
      attributes: {
        'http.request.method': method,
        'url.full': `${origin}${pathname}`,
        'server.address': hostname,
        'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
      },
    };
  };
  return {
    getObject: (url) => tracing.around(startOf(url, 'GET'), () => network.getObject(url)),
    fetch: (url, call) => tracing.around(startOf(url, call.method), () => network.fetch(url, call)),
    close: () => network.close(),
  };
}

/** The same; the span to the upstream begins here, and ends with the request. */
export function traceForward(forward: Forward, tracing: Tracing | null): Forward {
  if (tracing === null) return forward;
  return (exchange, route, principal, preflight) => {
    const { name, authority } = route.upstream;
    exchange.trace?.beginUpstream(exchange.method, name, authority);
    // A connection, and the requests that use it later, are not part of the request for which it was opened.
    tracing.run(null, () => forward(exchange, route, principal, preflight));
  };
}
