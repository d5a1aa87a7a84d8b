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
  let isLooking = false;

  async function poll(): Promise<void> {
    const version = records.version();
    if (version === seenVersion) return;
    for (const entry of await records.takeCommandEvents()) log.audit(JSON.parse(entry) as AuditEntry);
    seenVersion = version;
  }

  function pollOnce(): void {
    if (isLooking) return;
    isLooking = true;
    // Records that are away are told of elsewhere, and what is kept there waits.
    poll()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }

  pollOnce();
  const timer = setInterval(pollOnce, pollIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
