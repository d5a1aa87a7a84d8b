import type { Config } from '../config/schema.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { Log } from '../log/log.ts';
import { reportCommandEvents } from './command-events.ts';
import { isFirstInInterval } from './once-among-replicas.ts';
import type { Stores } from './stores.ts';

const flushIntervalMs = 60_000;
const pruneIntervalMs = 600_000;
const auditPruneIntervalMs = 60_000;

/** What goes on beside the requests. */
export interface BackgroundWork {
  stop(): void;
  /** Writes out what has been collected; if a store can't be written, the error is logged. */
  flush(): Promise<void>;
}

/** What the work needs beside the stores. */
export interface BackgroundParts {
  readonly recentUse: RecentUse;
  readonly log: Log;
  /** `audit` of the configuration that serves now. */
  readonly auditSettings: () => Config['audit'];
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/**
 * Starts writing out recent use, removing dead sessions and old audit events, and reporting what commands did; no timer
 * keeps the process alive.
 */
export function startBackgroundWork(
  { records, sessions, singleUse }: Pick<Stores, 'records' | 'sessions' | 'singleUse'>,
  { recentUse, log, auditSettings, now }: BackgroundParts,
): BackgroundWork {
  const logStoreError = (error: unknown) => log.error('background store write failed', { err: error });
  const flush = () => recentUse.flush().catch(logStoreError);
  const pruneAudit = async () => {
    if (!(await isFirstInInterval(singleUse, 'prune audit', auditPruneIntervalMs, now()))) return;
    const { retention, max_events: maxEvents } = auditSettings();
    await records.pruneAuditEvents({ since: now() - retention, maxEvents }).catch(logStoreError);
  };
  const timers = [
    setInterval(flush, flushIntervalMs),
    setInterval(() => sessions.prune().catch(logStoreError), pruneIntervalMs),
    setInterval(pruneAudit, auditPruneIntervalMs),
  ];
  for (const timer of timers) timer.unref();
  const stopReporting = reportCommandEvents(records, log);
  return {
    flush,
    stop() {
      for (const timer of timers) clearInterval(timer);
      stopReporting();
    },
  };
}
