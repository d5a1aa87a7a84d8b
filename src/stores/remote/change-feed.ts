import type { Notifications } from './notified-cache.ts';

/** A change, as far as caches are concerned. */
export interface RecordsChange {
  /** Ids of keys that were changed or deleted. */
  readonly keys: readonly string[];
  /** Ids of users that were created, changed or deleted, or whose grants were. */
  readonly users: readonly string[];
  /** Ids of keys that were created; a cache can only hold that they didn't exist. */
  readonly newKeys?: readonly string[];
  /** True if a command left events for a gateway to log; nothing that is cached depends on them. */
  readonly hasCommandEvents?: boolean;
  /** True if keys that sign were added, replaced or removed. */
  readonly hasSigningKeys?: boolean;
  /** Anything may have changed: it was too much to name. */
  readonly isEverything?: boolean;
}

/** Notifies of changes in a store, and says how far that can be relied on. */
export interface ChangeFeed extends Notifications {
  /** `null`: changes have been missed, or are too many to name; anything may have been changed. */
  onChange(listener: (change: RecordsChange | null) => void): void;
  /** Notifies the listeners of a change that this process has made itself. */
  noteChange(change: RecordsChange | null): void;
  /**
   * Called several times a second, and at least every other second: true if the store responded in time and accepts writes,
   * false if there is reason to doubt it.
   */
  onHeartbeat(listener: (isHealthy: boolean) => void): void;
  close(): Promise<void>;
}
