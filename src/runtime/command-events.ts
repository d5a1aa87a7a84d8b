import type { AuditEntry, Log } from '../log/log.ts';
import type { Records } from '../stores/records.ts';

/** Interval of looking for events of commands, ms. */
const pollIntervalMs = 1_000;

/**
 * Writes the audit events of commands on the same records to this log: each once, by one of the gateways on the records,
 * which are read only after a change. Returns a function that stops it.
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
