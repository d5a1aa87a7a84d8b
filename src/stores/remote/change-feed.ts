import type { Notifications } from './notified-cache.ts';

/** A change, as far as caches are concerned. */
export interface RecordsChange {
  /** Ids of keys that were changed or deleted. */
  readonly keys: readonly string[];
  /** Ids of users that were created, changed or deleted, or whose grants were. */
  readonly users: readonly string[];
  /** Ids of keys that were created; the most that a cache can hold of them is that they don't exist. */
  readonly newKeys?: readonly string[];
  /** True if a command left events for a gateway to log; nothing that is cached depends on them. */
  readonly hasCommandEvents?: boolean;
  /** True if keys that sign were added, replaced or removed. */
  readonly hasSigningKeys?: boolean;
  /** True if anything may have changed, because there are too many changes to name. */
  readonly isEverything?: boolean;
}

/** Notifies of changes in a store, and shows up to which instant none has been missed. */
export interface ChangeFeed extends Notifications {
  /** Adds a listener for changes; `null`: anything may have changed, as changes were missed or are too many to name. */
  onChange(listener: (change: RecordsChange | null) => void): void;
  /** Notifies the listeners of a change that this process has made itself. */
  noteChange(change: RecordsChange | null): void;
  /**
   * Adds a listener that is called several times a second, and at least every two seconds: with true if the store responded in
   * time and accepts writes, with false if there is reason to doubt that.
   */
  onHeartbeat(listener: (isHealthy: boolean) => void): void;
  close(): Promise<void>;
}
