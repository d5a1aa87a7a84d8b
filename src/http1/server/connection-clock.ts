import type { Socket } from 'node:net';

/** The phases of a client connection, each with a timeout of its own. */
export const phase = { idle: 0, head: 1, exchange: 2, discarding: 3, ending: 4 } as const;
export type Phase = (typeof phase)[keyof typeof phase];

/**
 * Actions for which a client took too long: sending its next request, a head, a body, or a body that is being discarded; reading
 * a response, or the end of one that has been written; closing its side.
 */
export type ClientTimeout =
  | 'request'
  | 'head'
  | 'body'
  | 'unwanted-body'
  | 'reading'
  | 'reading-end'
  | 'close';

/** Timeouts in milliseconds. */
export interface TimeLimits {
  readonly headerTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** Time of reading before a body's rate counts. */
  readonly bodyJudgedAfterMs: number;
  readonly writeIdleTimeoutMs: number;
}

/** Time for which a client may continue to send after its response before the connection is cut. */
const lingerMs = 1_000;

/** Phase of a connection, and its start. Sets no timer: the server polls it. */
export class ConnectionClock {
  phase: Phase = phase.idle;
  /** The client must read before anything else can happen. */
  wantsDrain = false;
  readonly #socket: Pick<Socket, 'writableLength' | 'isPaused'>;
  readonly #limits: TimeLimits;
  /** Start of the phase, or its last progress, by `performance.now()`. */
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

  /** Restarts the timeout; returns the current instant. */
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

  /** The timeout that has passed at `now`, or null. `readsBody`: the body of the request is being read. */
  timeoutAt(now: number, readsBody: boolean): ClientTimeout | null {
    const waited = now - this.#since;
    const { headerTimeoutMs, keepAliveTimeoutMs, bodyIdleTimeoutMs, writeIdleTimeoutMs } = this.#limits;
    const isBusy = this.phase === phase.exchange || this.phase === phase.head;
    // The end of a response is still being sent to a slow client, which is neither idle nor done.
    if (!isBusy && this.#socket.writableLength > 0) return waited > writeIdleTimeoutMs ? 'reading-end' : null;
    switch (this.phase) {
      case phase.idle:
        return waited > (this.#servedAny ? keepAliveTimeoutMs : headerTimeoutMs) ? 'request' : null;
      case phase.head:
        // For the whole head: a byte now and then is no progress.
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
