import type { Socket } from 'node:net';

/** The phases of a client connection, each with a timeout of its own. */
export const phase = { idle: 0, head: 1, exchange: 2, discarding: 3, ending: 4 } as const;
export type Phase = (typeof phase)[keyof typeof phase];

/**
 * Action for which a client took too long: sending its next request, a head, a body, or a body that is being discarded; reading
 * a response, or the rest of one that we have finished writing; closing its side of the connection.
 */
export type ClientTimeout =
  | 'request'
  | 'head'
  | 'body'
  | 'unwanted-body'
  | 'reading'
  | 'reading-end'
  | 'close';

/** Timeouts of a client connection in milliseconds. */
export interface TimeLimits {
  readonly headerTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** Time spent reading a body before its rate is checked. */
  readonly bodyJudgedAfterMs: number;
  readonly writeIdleTimeoutMs: number;
}

/** Time that a client has after its response to finish a body that we discard, and again to close the connection. */
const lingerMs = 1_000;

/** Keeps the phase of a connection and the time spent in it. Sets no timer: the server polls {@link timeoutAt}. */
export class ConnectionClock {
  phase: Phase = phase.idle;
  /** True while nothing else can happen until the client reads what we have sent. */
  wantsDrain = false;
  readonly #socket: Pick<Socket, 'writableLength' | 'isPaused'>;
  readonly #limits: TimeLimits;
  /** Instant at which the phase started or last made progress, by `performance.now()`. */
  #since = performance.now();
  #headSince = 0;
  #servedAny = false;

  constructor(socket: Pick<Socket, 'writableLength' | 'isPaused'>, limits: TimeLimits) {
    this.#socket = socket;
    this.#limits = limits;
  }

  enter(next: Phase): void {
    this.phase = next;
    this.#since = performance.now();
    if (next === phase.head) this.#headSince = this.#since;
    else if (next === phase.exchange) this.#servedAny = true;
  }

  /** Restarts the timeout; returns the current `performance.now()`. */
  noteProgress(): number {
    this.#since = performance.now();
    return this.#since;
  }

  noteBytes(): void {
    // A client that doesn't read gains no time by sending.
    if (this.phase < phase.discarding && !this.wantsDrain) this.#since = performance.now();
  }

  waitForDrain(): void {
    this.wantsDrain = true;
    this.#since = performance.now();
  }

  /** The timeout that has expired by `now`, or null if none has. `readsBody`: true if the request body has a reader. */
  timeoutAt(now: number, readsBody: boolean): ClientTimeout | null {
    const waited = now - this.#since;
    const { headerTimeoutMs, keepAliveTimeoutMs, bodyIdleTimeoutMs, writeIdleTimeoutMs } = this.#limits;
    const isBusy = this.phase === phase.exchange || this.phase === phase.head;
    // The end of a response is still being sent to a slow client: the connection is neither idle nor done.
    if (!isBusy && this.#socket.writableLength > 0) return waited > writeIdleTimeoutMs ? 'reading-end' : null;
    switch (this.phase) {
      case phase.idle:
        return waited > (this.#servedAny ? keepAliveTimeoutMs : headerTimeoutMs) ? 'request' : null;
      case phase.head:
        // The timeout is for the whole head: a byte now and then is no progress.
        return now - this.#headSince > headerTimeoutMs ? 'head' : null;
      case phase.exchange:
        if (this.wantsDrain) return waited > writeIdleTimeoutMs ? 'reading' : null;
        return readsBody && !this.#socket.isPaused() && waited > bodyIdleTimeoutMs ? 'body' : null;
      case phase.discarding:
        return waited > lingerMs ? 'unwanted-body' : null;
      case phase.ending:
        return waited > lingerMs ? 'close' : null;
    }
  }
}
