/** What has been changed, as far as caches are concerned. */
export interface RecordsChange {
  /** Ids of keys that were changed or deleted. */
  readonly keys: readonly string[];
  /** Ids of users that were created, changed or deleted, or whose grants were. */
  readonly users: readonly string[];
  /** Ids of keys that were created; a cache can only hold that they didn't exist. */
  readonly newKeys?: readonly string[];
  /** Whether a command left events for a gateway to log; nothing that is cached depends on them. */
  readonly hasCommandEvents?: boolean;
  /** Whether keys that sign were added, replaced or removed. */
  readonly hasSigningKeys?: boolean;
  /** Anything may have changed: it was too much to name. */
  readonly isEverything?: boolean;
}

/** Notifies of what other processes change in a store, and says how far that can be relied on. */
export interface ChangeFeed {
  /**
   * Every change made before this instant, as by `performance.now()`, has been notified; it stands still while the
   * feed is disconnected. 0: it has never been connected.
   */
  readonly notifiedUntil: number;
  /** `null`: changes have been missed, or are too many to name; anything may have been changed. */
  onChange(listener: (change: RecordsChange | null) => void): void;
  /** Notifies the listeners of a change that this process has made itself. */
  noteChange(change: RecordsChange | null): void;
  /**
   * Called several times a second, and at least every other second: whether the store responded in time and accepts
   * writes, or there is reason to doubt it.
   */
  onHeartbeat(listener: (isHealthy: boolean) => void): void;
  close(): Promise<void>;
}
