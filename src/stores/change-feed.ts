/** What has been changed, as far as memory is concerned; null: anything may have been. */
export interface RecordsChange {
  /** Ids of keys that were changed or deleted. */
  readonly keys: readonly string[];
  /** Ids of users that were made, changed or deleted, or whose grants were. */
  readonly users: readonly string[];
  /** Ids of keys that were made, of which nobody can have remembered more than that there was none. */
  readonly newKeys?: readonly string[];
  /** Whether a command did something for a gateway to tell of; nothing that is remembered rests on it. */
  readonly hasCommandEvents?: boolean;
}

/** Tells what other processes change in a store, and how far that can be relied on. */
export interface ChangeFeed {
  /**
   * Every change made before this instant, as by `performance.now()`, has been told; it stands still while nothing can
   * be heard. 0: nothing has been heard yet.
   */
  readonly notifiedUntil: number;
  /** `null`: changes have been missed, or are too many to name. */
  onChange(listener: (change: RecordsChange | null) => void): void;
  /**
   * Told several times a second, and at least every other second: whether the store answered in time and is of use, or
   * whether there is a doubt that it is.
   */
  onHeartbeat(listener: (isWell: boolean) => void): void;
  close(): Promise<void>;
}
