import { uuidv7 } from 'uuidv7';
import { Audit } from '../administration/audit.ts';
import type { Log } from '../log/log.ts';
import { AuditQueue } from '../stores/audit-queue.ts';
import type { Records } from '../stores/records.ts';
import { onTicks } from '../ticks.ts';
import type { AuditCounts } from './audit-counts.ts';
import { CountedRefusals } from './counted-refusals.ts';
import type { GatewayMetrics } from './metrics.ts';

const refusalsCheckMs = 1_000;
/** Minimum interval of log lines about losses, ms; the metric counts every loss. */
const lossLogIntervalMs = 60_000;

/** The audit of a gateway: events about changes and about the end of access, and counts of refusals. */
export interface AuditTrail {
  readonly audit: Audit;
  readonly refusals: CountedRefusals;
  /** Writes waiting events for at most `timeoutMs`; the rest is lost, and counted as lost. */
  close(timeoutMs: number): Promise<void>;
}

/** Dependencies of the audit trail. */
export interface AuditTrailParts {
  readonly log: Log;
  readonly metrics: Pick<GatewayMetrics, 'registry' | 'loginsBy'>;
  readonly counts: AuditCounts;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/** Starts the audit trail; no timer keeps the process alive. */
export function startAuditTrail(
  records: Pick<Records, 'addAuditEvents'>,
  { log, metrics, counts, now }: AuditTrailParts,
): AuditTrail {
  let unreported = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  const reportLosses = () => {
    if (unreported > 0)
      log.error('audit events lost: only the log has them, not the records store', {
        lost_events: unreported,
      });
    unreported = 0;
    reportedAt = performance.now();
  };
  const queue = new AuditQueue(records, {
    onWritten: (count) => {
      counts.written += count;
    },
    onLost: (count) => {
      counts.lost += count;
      unreported += count;
      if (performance.now() - reportedAt >= lossLogIntervalMs) reportLosses();
    },
    onError: (error) => log.error('audit events dropped: the records store rejected them', { err: error }),
  });
  metrics.registry.gauge('audit_waiting', 'Audit events waiting for the records store.', () => queue.length);
  const refusals = new CountedRefusals(now, (lines) =>
    queue.addRefusals(lines.map((line) => ({ ...line, id: uuidv7() }))),
  );
  const stopChecks = onTicks(refusalsCheckMs, () => refusals.endWindow());
  const counting = countingSignIns(log, metrics);
  return {
    audit: new Audit({ log: counting, keep: (event) => queue.add(event), now }),
    refusals,
    async close(timeoutMs) {
      stopChecks();
      refusals.flush();
      await queue.close(timeoutMs);
      reportLosses();
    },
  };
}

/** Wraps the log of audit events to count sign-ins by method and outcome. */
function countingSignIns(
  log: Pick<Log, 'audit'>,
  { loginsBy }: Pick<GatewayMetrics, 'loginsBy'>,
): Pick<Log, 'audit'> {
  return {
    audit(entry) {
      log.audit(entry);
      const isSignIn = entry.event === 'login_succeeded' || entry.event === 'login_failed';
      // A throttled attempt was not judged.
      if (isSignIn && entry.reason !== 'too_many_attempts')
        loginsBy(entry.provider ?? 'password')[entry.outcome]++;
    },
  };
}
