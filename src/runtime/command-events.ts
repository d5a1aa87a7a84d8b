import type { AuditEntry, Log } from '../log/log.ts';
import type { Records } from '../stores/records.ts';

/** How often it is asked whether a command did something, in ms. */
const pollIntervalMs = 1_000;

/**
 * Writes what commands did on the same records into this log: each audit line once, by one of the gateways there are.
 * Returns what stops it. The records are read only when something in them has changed.
 */
export function reportCommandEvents(
  records: Pick<Records, 'version' | 'takeCommandEvents'>,
  log: Pick<Log, 'audit' | 'warn'>,
): () => void {
  let seenVersion: number | null = null;
  let isPolling = false;

  async function poll(): Promise<void> {
    const version = records.version();
    if (version === seenVersion) return;
    for (const entry of await records.takeCommandEvents()) log.audit(JSON.parse(entry) as AuditEntry);
    seenVersion = version;
  }

  function pollOnce(): void {
    if (isPolling) return;
    isPolling = true;
    // An unavailable records store is reported elsewhere, and its events wait there.
    poll()
      .catch(() => {})
      .finally(() => {
        isPolling = false;
      });
  }

  pollOnce();
  const timer = setInterval(pollOnce, pollIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
