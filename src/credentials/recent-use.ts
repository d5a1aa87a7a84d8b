import type { Records } from '../stores/records.ts';
import type { Sessions, SessionTimes } from '../stores/sessions.ts';

/**
 * When keys and sessions were last used, collected in memory: verifying a credential writes
 * nothing.
 */
export interface RecentUse {
  /** `instant` in epoch ms. */
  noteKey(id: string, instant: number): void;
  /** A request that the session's web cookie admitted; a refresh counts as use by itself. */
  noteSession(id: string, instant: number): void;
  /** Writes what was collected; what fails is kept for the next time. Rejects with `store_unavailable`. */
  flush(): Promise<void>;
}

/**
 * Creates the collection; its owner calls `flush` about once a minute and at shutdown. `times` are those of the
 * configuration that serves now.
 */
export function createRecentUse(options: {
  readonly records: Pick<Records, 'noteUse'>;
  readonly sessions: Pick<Sessions, 'noteUse'>;
  readonly times: () => SessionTimes;
}): RecentUse {
  const { records, sessions, times } = options;
  let keys = new Map<string, number>();
  let used = new Map<string, number>();

  async function flushRecords(): Promise<void> {
    if (keys.size === 0) return;
    const taken = keys;
    keys = new Map();
    try {
      await records.noteUse(taken);
    } catch (error) {
      keys = new Map([...taken, ...keys]);
      throw error;
    }
  }

  async function flushSessions(): Promise<void> {
    if (used.size === 0) return;
    const taken = used;
    used = new Map();
    try {
      await sessions.noteUse(taken, times());
    } catch (error) {
      used = new Map([...taken, ...used]);
      throw error;
    }
  }

  return {
    noteKey: (id, instant) => void keys.set(id, instant),
    noteSession: (id, instant) => void used.set(id, instant),
    async flush() {
      // Each by itself: the one may be unavailable without the other.
      const flushed = await Promise.allSettled([flushRecords(), flushSessions()]);
      for (const result of flushed) if (result.status === 'rejected') throw result.reason;
    },
  };
}
