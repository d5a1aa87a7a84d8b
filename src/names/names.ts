import type { NameError } from './name-error.ts';
import type { Resolve } from './system-resolver.ts';

/** Called once, perhaps at once, with the addresses of a name, or with a `NameError` if there are none. */
export type OnAddresses = (error: Error | null, addresses: readonly string[]) => void;

/** Events for the log and metrics. */
export interface NameEvents {
  /** A lookup failed. */
  onFailed(code: NameError['code']): void;
  /** No name server responds for this name; its earlier addresses, if there are any, continue to be used. */
  onUnavailable(host: string, failure: { readonly reason: string; readonly earlier: number }): void;
  /** Name servers respond for this name again. */
  onAvailable(host: string): void;
}

/** Dependencies of {@link Names}. */
export interface NamesOptions {
  readonly resolve: Resolve;
  readonly events: NameEvents;
  /** A monotonic clock, ms; default `performance.now`. */
  readonly now?: () => number;
  /** Calls `run` after `ms`, unless the returned function is called first; default: a timer. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

/** Time for which addresses are used without a new lookup, ms: a service that moves is found soon after. */
export const freshMs = 2_000;
/** Time for which a failure is kept, ms. */
export const failureMs = 1_000;
/** Maximum time that a connection waits for a lookup if there are earlier addresses, ms; less than a lookup may take. */
export const staleAfterMs = 500;
/** Time after a slow or failed lookup in which connections to a name with known addresses don't wait for another lookup, ms. */
export const slowMs = 10_000;
/** Time for which earlier addresses are used while no name server responds, ms. */
export const maxStaleMs = 3_600_000;
/** Maximum number of names kept, well above the number that configurations and providers contain. */
const maxNames = 1_000;

interface Entry {
  addresses: readonly string[];
  /** Time at which `addresses` were found. */
  foundAt: number;
  /** Error of the last lookup; null if it found addresses. */
  error: NameError | null;
  /** Earliest time of the next lookup. */
  freshUntil: number;
  /** Callbacks of the lookup in progress; null: there is none. */
  waiting: Set<OnAddresses> | null;
  /** Time at which a lookup last took long or failed. */
  slowAt: number;
  isUnavailable: boolean;
}

/**
 * Addresses of host names, found by one lookup at a time for each name, kept for seconds, and used for longer while no
 * name server responds (RFC 8767): a name without a response delays connections to that name, and nothing else.
 */
export class Names {
  readonly #entries = new Map<string, Entry>();
  readonly #options: Required<NamesOptions>;

  constructor(options: NamesOptions) {
    this.#options = { now: () => performance.now(), after: startTimer, ...options };
  }

  /** Finds the addresses of a name; `done` may be called at once. The returned function withdraws `done`. */
  find(host: string, done: OnAddresses): () => void {
    const entry = this.#entries.get(host) ?? this.#add(host);
    const now = this.#options.now();
    const isFresh = now < entry.freshUntil;
    const waiting = isFresh ? null : this.#lookUp(host, entry);
    const isSlow = now - entry.slowAt < slowMs;
    if (isFresh || (isSlow && this.#hasAddresses(entry))) {
      this.#respond(entry, done);
      return () => {};
    }
    waiting!.add(done);
    return () => waiting!.delete(done);
  }

  #add(host: string): Entry {
    if (this.#entries.size === maxNames) this.#entries.delete(this.#entries.keys().next().value!);
    const entry: Entry = {
      addresses: [],
      foundAt: 0,
      error: null,
      freshUntil: Number.NEGATIVE_INFINITY,
      waiting: null,
      slowAt: Number.NEGATIVE_INFINITY,
      isUnavailable: false,
    };
    this.#entries.set(host, entry);
    return entry;
  }

  #hasAddresses({ addresses, foundAt }: Entry): boolean {
    return addresses.length > 0 && this.#options.now() - foundAt < maxStaleMs;
  }

  #respond(entry: Entry, done: OnAddresses): void {
    if (this.#hasAddresses(entry)) done(null, entry.addresses);
    else done(entry.error, []);
  }

  /** Starts a lookup unless one is in progress, and returns the callbacks that wait for it. */
  #lookUp(host: string, entry: Entry): Set<OnAddresses> {
    if (entry.waiting !== null) return entry.waiting;
    const waiting = new Set<OnAddresses>();
    entry.waiting = waiting;
    let isSlow = false;
    const cancel = this.#options.after(staleAfterMs, () => {
      isSlow = true;
      entry.slowAt = this.#options.now();
      if (this.#hasAddresses(entry)) this.#respondAll(entry, waiting);
    });
    const settle = (addresses: readonly string[], error: NameError | null) => {
      cancel();
      entry.waiting = null;
      entry.error = error;
      entry.freshUntil = this.#options.now() + (error === null ? freshMs : failureMs);
      if (error !== null) this.#options.events.onFailed(error.code);
      if (error?.code === 'EAI_AGAIN') this.#onUnavailable(host, entry, error);
      else this.#onResponse(host, entry, addresses, isSlow);
      this.#respondAll(entry, waiting);
    };
    this.#options.resolve(host).then(
      (addresses) => settle(addresses, null),
      (error: NameError) => settle([], error),
    );
    return waiting;
  }

  #respondAll(entry: Entry, waiting: Set<OnAddresses>): void {
    const all = [...waiting];
    waiting.clear();
    for (const done of all) this.#respond(entry, done);
  }

  /** Handles a response. If the name is denied, its earlier addresses are dropped: another service may have them by now. */
  #onResponse(host: string, entry: Entry, addresses: readonly string[], isSlow: boolean): void {
    entry.addresses = addresses;
    entry.foundAt = this.#options.now();
    // While the first of several servers is silent, every lookup is slow.
    entry.slowAt = isSlow ? entry.foundAt : Number.NEGATIVE_INFINITY;
    if (entry.isUnavailable) this.#options.events.onAvailable(host);
    entry.isUnavailable = false;
  }

  #onUnavailable(host: string, entry: Entry, error: NameError): void {
    entry.slowAt = this.#options.now();
    if (entry.isUnavailable) return;
    entry.isUnavailable = true;
    const earlier = this.#hasAddresses(entry) ? entry.addresses.length : 0;
    this.#options.events.onUnavailable(host, { reason: error.message, earlier });
  }
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
