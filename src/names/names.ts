import type { NameError } from './name-error.ts';
import type { Resolve } from './system-resolver.ts';

/** Called once, perhaps at once, with the addresses of a name or the `NameError` why there are none. */
export type OnAddresses = (error: Error | null, addresses: readonly string[]) => void;

/** What became of names, for the log and metrics. */
export interface NameEvents {
  /** A lookup failed. */
  onFailed(code: NameError['code']): void;
  /** No name server responds for this name; its earlier addresses, if there are any, continue to be used. */
  onUnavailable(host: string, failure: { readonly reason: string; readonly earlier: number }): void;
  /** They respond again. */
  onAvailable(host: string): void;
}

export interface NamesOptions {
  readonly resolve: Resolve;
  readonly events: NameEvents;
  /** In ms, default `performance.now`. */
  readonly now?: () => number;
  /** Calls back after so many ms, unless the returned function is called before; default: a timer. */
  readonly after?: (ms: number, run: () => void) => () => void;
}

/** How long addresses are used without a new lookup, ms: those of a service that moves are seen soon after. */
export const freshMs = 2_000;
/** How long a failure is kept, ms. */
export const failureMs = 1_000;
/** How long a connection waits for a lookup where there are addresses of the last seconds, ms. */
export const staleAfterMs = 300;
/** The same where they are older: another service may have them by now. Less than any lookup may take. */
export const oldAfterMs = 600;
/** How long ago are the last seconds, ms. */
export const recentMs = 10_000;
/** How long earlier addresses are used while no name server responds, ms. */
export const maxStaleMs = 3_600_000;
/** The most names that are kept; there are as many as the configuration and providers name. */
const maxNames = 1_000;

interface Entry {
  addresses: readonly string[];
  /** When they were found. */
  foundAt: number;
  /** Why there are none. */
  error: NameError | null;
  /** No new lookup before. */
  freshUntil: number;
  /** Who waits for the lookup in progress; null: there is none. */
  waiting: Set<OnAddresses> | null;
  /** When a lookup last took long or failed: for seconds after, none is waited for where there are addresses. */
  slowAt: number;
  isUnavailable: boolean;
}

/**
 * The addresses of host names, found by one lookup at a time for each name, kept for seconds, and used for longer while no
 * name server responds (RFC 8767): a name without a response holds up what needs that name, and nothing else.
 */
export class Names {
  readonly #entries = new Map<string, Entry>();
  readonly #resolve: Resolve;
  readonly #events: NameEvents;
  readonly #now: () => number;
  readonly #after: (ms: number, run: () => void) => () => void;

  constructor({ resolve, events, now = () => performance.now(), after = startTimer }: NamesOptions) {
    this.#resolve = resolve;
    this.#events = events;
    this.#now = now;
    this.#after = after;
  }

  /** Finds the addresses of a name; `done` may be called at once. The returned function withdraws it. */
  find(host: string, done: OnAddresses): () => void {
    const entry = this.#entries.get(host) ?? this.#add(host);
    const now = this.#now();
    const isFresh = now < entry.freshUntil;
    const waiting = isFresh ? null : this.#lookUp(host, entry);
    const isSlow = now - entry.slowAt < recentMs;
    if (isFresh || (isSlow && this.#hasAddresses(entry))) {
      this.#respond(entry, done);
      return () => {};
    }
    waiting!.add(done);
    return () => waiting!.delete(done);
  }

  #add(host: string): Entry {
    if (this.#entries.size >= maxNames)
      for (const [name, { waiting }] of this.#entries)
        if (waiting === null) {
          this.#entries.delete(name);
          break;
        }
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
    return addresses.length > 0 && this.#now() - foundAt < maxStaleMs;
  }

  #respond(entry: Entry, done: OnAddresses): void {
    if (this.#hasAddresses(entry)) done(null, entry.addresses);
    else done(entry.error, []);
  }

  /** Starts a lookup unless there is one, and gives those who wait for it. */
  #lookUp(host: string, entry: Entry): Set<OnAddresses> {
    if (entry.waiting !== null) return entry.waiting;
    const waiting = new Set<OnAddresses>();
    entry.waiting = waiting;
    const isRecent = this.#now() - entry.foundAt < recentMs;
    const cancel = this.#after(isRecent ? staleAfterMs : oldAfterMs, () => {
      entry.slowAt = this.#now();
      if (this.#hasAddresses(entry)) this.#respondAll(entry, waiting);
    });
    const settled = (settle: () => void) => {
      cancel();
      entry.waiting = null;
      settle();
      this.#respondAll(entry, waiting);
    };
    this.#resolve(host).then(
      (addresses) => settled(() => this.#onFound(host, entry, addresses)),
      (error: NameError) => settled(() => this.#onFailed(host, entry, error)),
    );
    return waiting;
  }

  #respondAll(entry: Entry, waiting: Set<OnAddresses>): void {
    const all = [...waiting];
    waiting.clear();
    for (const done of all) this.#respond(entry, done);
  }

  #onFound(host: string, entry: Entry, addresses: readonly string[]): void {
    entry.addresses = addresses;
    entry.foundAt = this.#now();
    entry.freshUntil = entry.foundAt + freshMs;
    entry.error = null;
    this.#onResponse(host, entry);
  }

  #onFailed(host: string, entry: Entry, error: NameError): void {
    const now = this.#now();
    entry.freshUntil = now + failureMs;
    entry.error = error;
    this.#events.onFailed(error.code);
    // The name servers say so: its addresses may belong to another service by now.
    if (error.code === 'ENOTFOUND') {
      entry.addresses = [];
      this.#onResponse(host, entry);
      return;
    }
    entry.slowAt = now;
    if (entry.isUnavailable) return;
    entry.isUnavailable = true;
    const earlier = this.#hasAddresses(entry) ? entry.addresses.length : 0;
    this.#events.onUnavailable(host, { reason: error.message, earlier });
  }

  #onResponse(host: string, entry: Entry): void {
    entry.slowAt = Number.NEGATIVE_INFINITY;
    if (entry.isUnavailable) this.#events.onAvailable(host);
    entry.isUnavailable = false;
  }
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
