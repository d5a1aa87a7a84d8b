import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Log } from '../log/log.ts';
import type { DecisionCounts } from '../metrics/decisions.ts';
import type { RequestCounts } from '../metrics/requests.ts';
import type { CountedRefusals } from '../runtime/counted-refusals.ts';
import { endTrace } from './request-spans.ts';

/** Where an exchange that is over is recorded. */
export interface FinishedParts {
  readonly log: Pick<Log, 'access'>;
  readonly refusals: Pick<CountedRefusals, 'count'>;
  readonly metrics: {
    readonly requests: Pick<RequestCounts, 'done'>;
    readonly decisions: Pick<DecisionCounts, 'done'>;
  };
}

/** Records an exchange that is over in the metrics, the access log, the audit and its trace, then tells its owners. */
export function recordFinished(exchange: Exchange, parts: FinishedParts): void {
  exchange.owner?.onClose();
  const { method, route, outcome, startedMs, takenAt } = exchange;
  const durationMs = performance.now() - startedMs;
  const ownMs = takenAt === 0 ? durationMs : takenAt - startedMs;
  parts.metrics.requests.done(route, method, exchange.response.status, outcome, durationMs, ownMs);
  record(exchange, durationMs, '', parts);
}

/** The same for a request that another proxy asked about. */
export function recordDecided(exchange: Exchange, mode: DecisionMode, parts: FinishedParts): void {
  exchange.owner?.onClose();
  const { route, outcome, startedMs } = exchange;
  const durationMs = performance.now() - startedMs;
  parts.metrics.decisions.done(mode, route, outcome, durationMs);
  record(exchange, durationMs, mode, parts);
}

function record(
  exchange: Exchange,
  durationMs: number,
  decidedFor: DecisionMode | '',
  { log, refusals }: Pick<FinishedParts, 'log' | 'refusals'>,
): void {
  const { method, path, route, outcome, caller, address } = exchange;
  const { status, bodyBytes } = exchange.response;
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
    decidedFor,
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
