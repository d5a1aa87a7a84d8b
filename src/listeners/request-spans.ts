import type { Exchange } from '../http/exchange.ts';
import { keptText } from '../http1/message/copied-text.ts';
import { traceparentOf } from '../proxy/request-headers.ts';
import { RequestTrace } from '../tracing/request-trace.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Methods that appear in span names; others are `_OTHER`, to bound the number of names (Semantic Conventions for HTTP Spans). */
const namedMethods: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'],
]);

/** Responds to an exchange within a span, a child of the span in the request's `traceparent`. */
export function traceExchange(tracing: Tracing, exchange: Exchange, respond: () => void): void {
  const method = methodOf(exchange);
  const { minor, address, connection } = exchange;
  const attributes = {
    'http.request.method': method,
    'url.scheme': connection.encrypted ? 'https' : 'http',
    'network.protocol.version': `1.${minor}`,
    'client.address': keptText(address),
    'postern.request_id': keptText(exchange.id),
  };
  const parent = traceparentOf(exchange.head);
  const span = tracing.begin(
    { name: method, kind: 'server', attributes },
    parent === null ? null : keptText(parent),
  );
  if (span !== null) exchange.trace = new RequestTrace(span);
  tracing.run(span, respond);
}

/** Ends the spans of a finished exchange. */
export function endTrace(trace: RequestTrace, exchange: Exchange): void {
  const { route, outcome, caller } = exchange;
  const { status } = exchange.response;
  const isRefusal = outcome !== 'ok' && status >= 400;
  trace.endUpstream(
    isRefusal || status === 0 ? {} : { 'http.response.status_code': status },
    failureOf(status, outcome, 400),
  );
  const { span } = trace;
  if (route !== '') span.rename(`${methodOf(exchange)} ${route}`);
  span.annotate({
    'postern.outcome': outcome,
    ...(exchange.targetIsGood ? { 'url.path': keptText(exchange.path) } : {}),
    ...(route === '' ? {} : { 'http.route': route }),
    ...(status === 0 ? {} : { 'http.response.status_code': status }),
    ...(caller === null ? {} : { 'user.id': caller.userId }),
  });
  span.end(failureOf(status, outcome, 500));
}

/** The reason why an HTTP span failed: status `worst` or above, or an incomplete response; null: success, or the client left. */
function failureOf(status: number, outcome: string, worst: number): string | null {
  if (outcome === 'ok') return status >= worst ? String(status) : null;
  const isOurs = status >= 400 && status < worst;
  return outcome === 'client_aborted' || isOurs ? null : outcome;
}

function methodOf({ method }: Exchange): string {
  return namedMethods.has(method) ? method : '_OTHER';
}
