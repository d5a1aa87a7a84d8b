import type { RecentUse } from '../credentials/recent-use.ts';
import type { Log } from '../log/log.ts';
import { reportCommandEvents } from './command-events.ts';
import type { Stores } from './stores.ts';

const flushIntervalMs = 60_000;
const pruneIntervalMs = 600_000;

/** What goes on beside the requests. */
export interface BackgroundWork {
  stop(): void;
  /** Writes out what is collected; a store that can't be written is logged. */
  flush(): Promise<void>;
}

/** Starts writing out recent use, removing dead sessions, and reporting what commands did; no timer keeps the process. */
export function startBackgroundWork(
  { records, sessions }: Pick<Stores, 'records' | 'sessions'>,
  recentUse: RecentUse,
  log: Log,
): BackgroundWork {
  const logStoreError = (error: unknown) => log.error('background store write failed', { err: error });
  const flush = () => recentUse.flush().catch(logStoreError);
  const timers = [
    setInterval(flush, flushIntervalMs),
    setInterval(() => sessions.prune().catch(logStoreError), pruneIntervalMs),
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
