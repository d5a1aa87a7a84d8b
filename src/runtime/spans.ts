import type { Authenticate } from '../authenticate/authenticate.ts';
import type { Config } from '../config/sections/schema.ts';
import type { RecordsAddress, SessionsAddress } from '../config/values/store-addresses.ts';
import type { ProviderNetwork } from '../identity-providers/provider-network.ts';
import type { Forward } from '../proxy/forward-options.ts';
import { wrapStores } from '../stores/operations.ts';
import type { SpanStart } from '../tracing/span.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { Stores } from './stores.ts';

/** OpenTelemetry's names for the systems behind store addresses. */
const systemOf: Readonly<Record<(RecordsAddress | SessionsAddress)['kind'], string>> = {
  sqlite: 'sqlite',
  postgres: 'postgresql',
  server: 'redis',
  socket: 'redis',
  sentinel: 'redis',
  cluster: 'redis',
};

/** Wraps each read and write of the stores in a span. */
export function traceStores(stores: Stores, tracing: Tracing | null, { stores: addresses }: Config): Stores {
  if (tracing === null) return stores;
  return wrapStores(stores, (call, { store, name }) => {
    const { kind } = store === 'records' ? addresses.records : addresses.sessions;
    const start: SpanStart = {
      name: `${store}.${name}`,
      kind: 'client',
      attributes: { 'db.system.name': systemOf[kind], 'db.operation.name': name },
    };
    const startOf = () => start;
    return (...args) => tracing.around(startOf, () => call(...args));
  });
}

const authentication: SpanStart = { name: 'authenticate', kind: 'internal', attributes: {} };

/** Wraps authentication in a span that names the kind of credential. */
export function traceAuthenticate(authenticate: Authenticate, tracing: Tracing | null): Authenticate {
  if (tracing === null) return authenticate;
  return (exchange, rules) =>
    tracing.around(
      () => authentication,
      (span) => {
        const { authorizationCount, apiKeyCount } = exchange.head;
        const presented = apiKeyCount > 0 ? 'api_key' : authorizationCount > 0 ? 'bearer' : 'none';
        span?.annotate({ 'postern.credential': presented });
        return authenticate(exchange, rules);
      },
    );
}

/** Wraps each request to a provider in a span; trace context is not propagated: the provider is a third party. */
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

/** Begins a span to the upstream with each forwarded request; the span ends with the request. */
export function traceForward(forward: Forward, tracing: Tracing | null): Forward {
  if (tracing === null) return forward;
  return (exchange, route, principal, preflight) => {
    const { name, authority } = route.upstream;
    exchange.trace?.beginUpstream(exchange.method, name, authority);
    // A connection, and the requests that use it later, are not part of the request for which it was opened.
    tracing.run(null, () => forward(exchange, route, principal, preflight));
  };
}
