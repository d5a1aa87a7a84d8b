/** A limit on failed attempts: at most `points` in a window, for the subject that `key` names. */
export interface AttemptLimit {
  /** Unique within the group. */
  readonly key: string;
  readonly points: number;
  /** Group whose counters are found and removed together; default: the counter belongs to none. */
  readonly group?: string;
}

/** A counter whose window has not ended. */
export interface AttemptCounter {
  readonly key: string;
  readonly count: number;
  /** Remaining time of its window, ms. */
  readonly remainingMs: number;
}

/** Outcome of an attempt: counted, or refused with the time until the window of the exceeded limit ends, ms. */
export type AttemptOutcome =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterMs: number };

/**
 * Counters of failed attempts. An attempt is counted before it is checked, and given back if it succeeds, so that parallel
 * attempts can't exceed a limit together.
 */
export interface Attempts {
  /**
   * Counts one attempt against every limit. If that would exceed one of them, the attempt is refused, and counts against none.
   */
  count(limits: readonly AttemptLimit[], windowMs: number): Promise<AttemptOutcome>;
  /** Gives one attempt back to every limit. */
  giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void>;
  /** The counters of a group. */
  findAttempts(group: string): Promise<readonly AttemptCounter[]>;
  /** Removes the counters of a group. */
  liftAttempts(group: string): Promise<void>;
}
