/** Options of {@link CachedDocument}. Durations are in ms, `now` in epoch ms. */
export interface CachedDocumentOptions<T> {
  readonly load: () => Promise<T>;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
  /** Age from which a copy is renewed before use; default 1 h. */
  readonly freshMs?: number;
  /** Age from which a copy is no longer used, even if loading fails; default 24 h. */
  readonly usableMs?: number;
}

const hourMs = 3_600_000;
/** Minimum time between two renewals, and between two failed loads while there is a usable copy, ms. */
const pauseMs = 30_000;
/** Minimum time between two failed loads while there is no usable copy, and therefore no one can sign in, ms. */
const emptyPauseMs = 500;

/** A document of the provider, cached in this process and loaded by at most one call at a time. */
export class CachedDocument<T> {
  readonly #options: CachedDocumentOptions<T>;
  readonly #freshMs: number;
  readonly #usableMs: number;
  #copy: { readonly document: T; readonly loaded: number } | undefined;
  /** Failure of the last load. */
  #failure: { readonly error: unknown; readonly at: number } | undefined;
  #lastRenewed = Number.NEGATIVE_INFINITY;
  #loading: Promise<T> | undefined;

  constructor(options: CachedDocumentOptions<T>) {
    this.#options = options;
    this.#freshMs = options.freshMs ?? hourMs;
    this.#usableMs = options.usableMs ?? 24 * hourMs;
  }

  /**
   * Returns the copy while it is fresh, otherwise a new one; if loading fails, an older copy that may still be used. Rejects with
   * the error of `load`, also for a short while afterwards.
   */
  async get(): Promise<T> {
    const copy = this.#copy;
    const failure = this.#failure;
    if (copy !== undefined && this.#isWithin(this.#freshMs, copy.loaded)) return copy.document;
    const usable = copy !== undefined && this.#isWithin(this.#usableMs, copy.loaded) ? copy : undefined;
    if (this.#loading === undefined && failure !== undefined) {
      if (usable !== undefined && this.#isWithin(pauseMs, failure.at)) return usable.document;
      if (usable === undefined && this.#isWithin(emptyPauseMs, failure.at)) throw failure.error;
    }
    return this.#loadOnce().catch((error: unknown) => {
      if (usable === undefined) throw error;
      return usable.document;
    });
  }

  /**
   * Returns a newer copy than `seen`, in which something was missing: loads the document again, unless it was just loaded for
   * another caller with the same problem. Rejects with the error of `load`.
   */
  async renew(seen: T): Promise<T> {
    // Another caller has renewed the copy already.
    if (this.#copy !== undefined && this.#copy.document !== seen) return this.#copy.document;
    if (this.#loading !== undefined) return this.#loading;
    if (this.#isWithin(pauseMs, this.#lastRenewed)) {
      if (this.#failure !== undefined) throw this.#failure.error;
      return seen;
    }
    this.#lastRenewed = this.#options.now();
    return this.#loadOnce().finally(() => {
      this.#lastRenewed = this.#options.now();
    });
  }

  /** True if `since` is less than `spanMs` ago; false if the clock was set back. */
  #isWithin(spanMs: number, since: number): boolean {
    const elapsed = this.#options.now() - since;
    return elapsed >= 0 && elapsed < spanMs;
  }

  #loadOnce(): Promise<T> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<T> {
    const { load, now, onFailure } = this.#options;
    try {
      const document = await load();
      this.#copy = { document, loaded: now() };
      this.#failure = undefined;
      return document;
    } catch (error) {
      // Counted from the end of the load: otherwise a timeout would use up the pause.
      this.#failure = { error, at: now() };
      onFailure(error);
      throw error;
    }
  }
}
