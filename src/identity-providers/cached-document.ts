/** A document of the provider that this process keeps a copy of. */
export interface CachedDocument<T> {
  /**
   * The copy while it is fresh, otherwise a new one; when that can't be had, an aged copy that may still be used. Rejects
   * with what `load` rejected with, also for a short while after.
   */
  get(): Promise<T>;
  /**
   * A newer one than `seen`, for who missed something in it: loaded anew, unless that was done a moment ago for others
   * who missed something. Rejects with what `load` rejected with.
   */
  renew(seen: T): Promise<T>;
}

/** Durations in milliseconds. */
export interface CachedDocumentOptions<T> {
  readonly load: () => Promise<T>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Told of every failed load. */
  readonly onFailure: (error: unknown) => void;
  /** Age from which a copy is renewed before it is used; default 1 h. */
  readonly freshMs?: number;
  /** Age from which it is no longer used, though nothing newer can be had; default 24 h. */
  readonly usableMs?: number;
  /** Least time between two renewals, and between two failed loads while a copy can be used; default 30 s. */
  readonly pauseMs?: number;
  /** Least time between two failed loads while there is no copy, and nobody can sign in; default 0.5 s. */
  readonly emptyPauseMs?: number;
}

const second = 1_000;
const hour = 3_600 * second;

/** Keeps one document, loaded by at most one call at a time. */
export function createCachedDocument<T>(options: CachedDocumentOptions<T>): CachedDocument<T> {
  const { load, now, onFailure } = options;
  const { freshMs = hour, usableMs = 24 * hour, pauseMs = 30 * second, emptyPauseMs = second / 2 } = options;
  let copy: { readonly document: T; readonly loaded: number } | undefined;
  /** Of the last load, if it failed. */
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let lastRenewed = Number.NEGATIVE_INFINITY;
  let loading: Promise<T> | undefined;

  /** A clock that was set back is no reason to wait. */
  function isWithin(spanMs: number, since: number): boolean {
    const elapsed = now() - since;
    return elapsed >= 0 && elapsed < spanMs;
  }

  function loadOnce(): Promise<T> {
    loading ??= attempt().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function attempt(): Promise<T> {
    try {
      const document = await load();
      copy = { document, loaded: now() };
      failure = undefined;
      return document;
    } catch (error) {
      // From its end: a pause that runs during a timeout would be over with it.
      failure = { error, at: now() };
      onFailure(error);
      throw error;
    }
  }

  async function get(): Promise<T> {
    if (copy !== undefined && isWithin(freshMs, copy.loaded)) return copy.document;
    const usable = copy !== undefined && isWithin(usableMs, copy.loaded) ? copy : undefined;
    if (loading === undefined && failure !== undefined) {
      if (usable !== undefined && isWithin(pauseMs, failure.at)) return usable.document;
      if (usable === undefined && isWithin(emptyPauseMs, failure.at)) throw failure.error;
    }
    return loadOnce().catch((error: unknown) => {
      if (usable === undefined) throw error;
      return usable.document;
    });
  }

  async function renew(seen: T): Promise<T> {
    // Somebody else was faster.
    if (copy !== undefined && copy.document !== seen) return copy.document;
    if (loading !== undefined) return loading;
    if (isWithin(pauseMs, lastRenewed)) {
      if (failure !== undefined) throw failure.error;
      return seen;
    }
    lastRenewed = now();
    return loadOnce().finally(() => {
      lastRenewed = now();
    });
  }

  return { get, renew };
}
