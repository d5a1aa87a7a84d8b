/** A document of the provider that this process keeps a copy of. */
export interface CachedDocument<T> {
  /**
   * The copy; loaded first when there is none that may still be used. An ageing one is renewed in the background.
   * Rejects with what `load` rejected with, also for a short while after.
   */
  get(): Promise<T>;
  /** The newest that can be had, for who missed something in the copy: loaded anew unless that was tried a moment ago. */
  renew(): Promise<T>;
}

/** Durations in milliseconds. */
export interface CachedDocumentOptions<T> {
  readonly load: () => Promise<T>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Told of every failed load. */
  readonly onFailure: (error: unknown) => void;
  /** Age from which a copy is renewed; default 1 h. */
  readonly freshMs?: number;
  /** Age from which it is no longer used, though nothing newer can be had; default 24 h. */
  readonly usableMs?: number;
  /** Least time between two loads while there is a copy: the bound on what strangers can cause; default 30 s. */
  readonly pauseMs?: number;
  /** The same while there is none, and nobody can sign in; default 5 s. */
  readonly emptyPauseMs?: number;
}

const second = 1_000;
const hour = 3_600 * second;

/** Keeps one document, loaded by at most one call at a time. */
export function createCachedDocument<T>(options: CachedDocumentOptions<T>): CachedDocument<T> {
  const { load, now, onFailure } = options;
  const { freshMs = hour, usableMs = 24 * hour, pauseMs = 30 * second, emptyPauseMs = 5 * second } = options;
  let copy: { readonly document: T; readonly loaded: number } | undefined;
  let failure: { readonly error: unknown } | undefined;
  let lastTried = Number.NEGATIVE_INFINITY;
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
    lastTried = now();
    try {
      const document = await load();
      copy = { document, loaded: now() };
      failure = undefined;
      return document;
    } catch (error) {
      failure = { error };
      onFailure(error);
      throw error;
    } finally {
      // From its end: a pause that runs during a time-out would be over with it.
      lastTried = now();
    }
  }

  async function get(): Promise<T> {
    if (copy !== undefined && isWithin(usableMs, copy.loaded)) {
      if (!isWithin(freshMs, copy.loaded) && !isWithin(pauseMs, lastTried)) loadOnce().catch(() => {});
      return copy.document;
    }
    if (loading === undefined && failure !== undefined && isWithin(emptyPauseMs, lastTried))
      throw failure.error;
    return loadOnce();
  }

  async function renew(): Promise<T> {
    if (loading === undefined && isWithin(pauseMs, lastTried)) return get();
    return loadOnce().catch(get);
  }

  return { get, renew };
}
