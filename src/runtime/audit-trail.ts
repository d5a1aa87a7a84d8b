import { uuidv7 } from 'uuidv7';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { AuditQueue } from '../stores/audit-queue.ts';
import type { Records } from '../stores/records.ts';
import type { AuditCounts } from './audit-counts.ts';
import { CountedRefusals } from './counted-refusals.ts';

const refusalsCheckMs = 1_000;
/** A loss is logged at most so often; the metric counts each. */
const lossLogIntervalMs = 60_000;

/** What reaches the audit of the records beside the transactions of changes. */
export interface AuditTrail {
  readonly queue: AuditQueue;
  readonly refusals: CountedRefusals;
  /** Writes what there is, for at most `timeoutMs`; what is left is lost, and counted as that. */
  close(timeoutMs: number): Promise<void>;
}

/** What it reports to. */
export interface AuditTrailParts {
  readonly log: Log;
  readonly registry: MetricsRegistry;
  readonly counts: AuditCounts;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/** Starts it; no timer keeps the process. */
export function startAuditTrail(
  records: Pick<Records, 'addAuditEvents'>,
  { log, registry, counts, now }: AuditTrailParts,
): AuditTrail {
  const losses = new LossReports(log);
  const queue = new AuditQueue(records, {
    onWritten: (count) => {
      counts.written += count;
    },
    onLost: (count) => {
      counts.lost += count;
      losses.report(count);
    },
    onError: (error) => log.error('audit events could not be written', { err: error }),
  });
  registry.gauge('audit_waiting', 'Audit events waiting for the records store.', () => queue.length);
  const refusals = new CountedRefusals(now, (lines) =>
    queue.addRefusals(lines.map((line) => ({ ...line, id: uuidv7() }))),
  );
  const timer = setInterval(() => refusals.endWindow(), refusalsCheckMs);
  timer.unref();
  return {
    queue,
    refusals,
    async close(timeoutMs) {
      clearInterval(timer);
      refusals.flush();
      await queue.close(timeoutMs);
      losses.flush();
    },
  };
}

/** Losses as few log lines. */
class LossReports {
  readonly #log: Pick<Log, 'error'>;
  #unreported = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

  report(count: number): void {
    this.#unreported += count;
    if (performance.now() - this.#reportedAt >= lossLogIntervalMs) this.flush();
  }

  flush(): void {
    if (this.#unreported === 0) return;
    this.#log.error('audit events lost', { count: this.#unreported });
    this.#unreported = 0;
    this.#reportedAt = performance.now();
  }
}
