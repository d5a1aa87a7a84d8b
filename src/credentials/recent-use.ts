import type { Records } from '../stores/records.ts';

/** When users last signed in and keys were last used, collected in memory: verifying a credential writes nothing. */
export interface RecentUse {
  /** `instant` in epoch ms. */
  noteKey(id: string, instant: number): void;
  noteLogin(userId: string, instant: number): void;
  /** Writes what was collected; if that fails, it is kept for the next time. Rejects with `store_unavailable`. */
  flush(): Promise<void>;
}

/** Creates the collection; its owner calls `flush` about once a minute and at shutdown. */
export function createRecentUse(records: Pick<Records, 'noteUse'>): RecentUse {
  let logins = new Map<string, number>();
  let keys = new Map<string, number>();
  return {
    noteKey: (id, instant) => void keys.set(id, instant),
    noteLogin: (userId, instant) => void logins.set(userId, instant),
    async flush() {
      if (logins.size + keys.size === 0) return;
      const taken = { logins, keys };
      logins = new Map();
      keys = new Map();
      try {
        await records.noteUse(taken);
      } catch (error) {
        logins = new Map([...taken.logins, ...logins]);
        keys = new Map([...taken.keys, ...keys]);
        throw error;
      }
    },
  };
}
