import type { Exchange } from '../http/exchange.ts';
import type { Log } from '../log/log.ts';
import type { RequestCounts } from '../metrics/requests.ts';
import { endTrace } from './request-spans.ts';

/** Records an exchange that is over in the metrics, the access log and its trace, then tells its owners. */
export function recordFinished(
  exchange: Exchange,
  log: Pick<Log, 'access'>,
  requests: Pick<RequestCounts, 'done'>,
): void {
  exchange.onClose?.();
  const { method, path, route, outcome, caller } = exchange;
  const { status, bodyBytes } = exchange.response;
  const { startedMs, takenAt } = exchange;
  const durationMs = performance.now() - startedMs;
  const ownMs = takenAt === 0 ? durationMs : takenAt - startedMs;
  requests.done(route, method, status, outcome, durationMs, ownMs);
  log.access({
    method,
    path: exchange.targetIsGood ? path : '',
    route,
    status,
    durationMs,
    outcome,
    subject: caller === null ? '' : caller.userId,
    credentialKind: caller === null ? '' : caller.kind === 'session' ? 'session' : 'key',
    credentialId: caller === null ? '' : caller.credentialId,
    requestId: exchange.id,
    address: exchange.address,
    bytesIn: exchange.bytesIn,
    bytesOut: bodyBytes,
    reason: exchange.reason,
    upstreamFailure: exchange.upstreamFailure,
  });
  if (exchange.trace !== null) endTrace(exchange.trace, exchange);
  exchange.onOver?.();
}
