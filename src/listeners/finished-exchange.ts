import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { unreadableReason } from '../http/refusal-reason.ts';
import type { Log } from '../log/log.ts';
import type { DecisionCounts } from '../metrics/decisions.ts';
import type { RequestCounts } from '../metrics/requests.ts';
import type { CountedRefusals } from '../runtime/counted-refusals.ts';
import type { RemovedHeaderCounts } from '../runtime/removed-headers.ts';
import { endTrace } from './request-spans.ts';

/** Destinations of the records of finished exchanges. */
export interface FinishedParts {
  readonly log: Pick<Log, 'access' | 'info'>;
  readonly refusals: Pick<CountedRefusals, 'count'>;
  readonly removed: Pick<RemovedHeaderCounts, 'count'>;
  readonly metrics: {
    readonly requests: Pick<RequestCounts, 'done' | 'unreadable'>;
    readonly decisions: Pick<DecisionCounts, 'done' | 'unreadable'>;
  };
}

/** Records a finished exchange and notifies its owner; `decidedFor`: mode of the proxy that asked, empty for a client. */
export function recordExchange(
  exchange: Exchange,
  decidedFor: DecisionMode | '',
  { log, refusals, metrics, removed: removedCounts }: FinishedParts,
): void {
  exchange.owner?.onClose();
  const { method, path, route, outcome, caller, address, startedMs, takenAt, removed } = exchange;
  const { status, bodyBytes } = exchange.response;
  const durationMs = performance.now() - startedMs;
  if (decidedFor === '') {
    const ownMs = takenAt === 0 ? durationMs : takenAt - startedMs;
    metrics.requests.done(route, method, status, outcome, durationMs, ownMs);
  } else metrics.decisions.done(decidedFor, route, outcome, durationMs);
  if (outcome !== 'ok') refusals.count(outcome, address);
  if (removed !== null && removed.kinds !== 0) removedCounts.count(route, removed.kinds);
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
    otherName: exchange.otherName,
    removed: removed?.names,
  });
  if (exchange.trace !== null) endTrace(exchange.trace, exchange);
  exchange.onOver?.();
}

/** Records the refusal of bytes that never became an exchange; `decidedFor` as for {@link recordExchange}. */
export function recordUnreadable(
  refusal: Refusal,
  address: string,
  requestId: string,
  decidedFor: DecisionMode | '',
  { log, metrics }: Pick<FinishedParts, 'log' | 'metrics'>,
): void {
  const { status, code } = refusal;
  if (decidedFor === '') metrics.requests.unreadable(status, code);
  else metrics.decisions.unreadable(decidedFor, code);
  log.info('request could not be read', {
    outcome: code,
    reason: unreadableReason(refusal),
    status,
    ...(decidedFor !== '' && { forward_auth: decidedFor }),
    address,
    request_id: requestId,
  });
}
