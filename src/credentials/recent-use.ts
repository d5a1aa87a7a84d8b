import type { Records } from '../stores/records.ts';
import type { Sessions, SessionTimes } from '../stores/sessions.ts';

/** Last uses of keys and sessions, collected in memory: verifying a credential writes nothing. Instants are epoch ms. */
export interface RecentUse {
  noteKey(id: string, instant: number): void;
  /** Notes a request that the session's web cookie admitted; a refresh counts as use by itself. */
  noteSession(id: string, instant: number): void;
  /** Writes the uses; those that could not be written are kept for the next time. Rejects with `store_unavailable`. */
  flush(): Promise<void>;
}

/**
 * Creates the collection; its owner calls `flush` about once a minute and at shutdown. `times` returns those of the current
 * configuration.
 */
export function createRecentUse(options: {
  readonly records: Pick<Records, 'noteUse'>;
  readonly sessions: Pick<Sessions, 'noteUse'>;
  readonly times: () => SessionTimes;
}): RecentUse {
  const { records, sessions, times } = options;
  const keys = collect((uses) => records.noteUse(uses));
  const used = collect((uses) => sessions.noteUse(uses, times()));
  return {
    noteKey: keys.note,
    noteSession: used.note,
    async flush() {
      // Each by itself: the one may be unavailable without the other.
      const flushed = await Promise.allSettled([keys.flush(), used.flush()]);
      for (const result of flushed) if (result.status === 'rejected') throw result.reason;
    },
  };
}

function collect(write: (uses: ReadonlyMap<string, number>) => Promise<void>) {
  let uses = new Map<string, number>();
  return {
    note: (id: string, instant: number): void => void uses.set(id, instant),
    async flush(): Promise<void> {
      if (uses.size === 0) return;
      const taken = uses;
      uses = new Map();
      try {
        await write(taken);
      } catch (error) {
        uses = new Map([...taken, ...uses]);
        throw error;
      }
    },
  };
}
