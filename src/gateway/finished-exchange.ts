import type { Exchange } from '../http/exchange.ts';
import type { Log } from '../log/log.ts';
import type { RequestCounts } from '../metrics/requests.ts';
import type { CountedRefusals } from './counted-refusals.ts';
import { endTrace } from './request-spans.ts';

/** Where an exchange that is over is recorded. */
export interface FinishedParts {
  readonly log: Pick<Log, 'access'>;
  readonly refusals: Pick<CountedRefusals, 'count'>;
  readonly metrics: { readonly requests: Pick<RequestCounts, 'done'> };
}

/** Records an exchange that is over in the metrics, the access log, the audit and its trace, then tells its owners. */
export function recordFinished(exchange: Exchange, { log, refusals, metrics }: FinishedParts): void {
  exchange.onClose?.();
  const { method, path, route, outcome, caller, address } = exchange;
  const { status, bodyBytes } = exchange.response;
  const { startedMs, takenAt } = exchange;
  const durationMs = performance.now() - startedMs;
  const ownMs = takenAt === 0 ? durationMs : takenAt - startedMs;
  metrics.requests.done(route, method, status, outcome, durationMs, ownMs);
  if (outcome !== 'ok') refusals.count(outcome, address);
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
    address,
    clientCertificate: exchange.connection.clientCertificate,
    bytesIn: exchange.bytesIn,
    bytesOut: bodyBytes,
    reason: exchange.reason,
    upstreamFailure: exchange.upstreamFailure,
  });
  if (exchange.trace !== null) endTrace(exchange.trace, exchange);
  exchange.onOver?.();
}
