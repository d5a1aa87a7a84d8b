import type { Socket } from 'node:net';

/** Where a connection stands; each has its own time-out. */
export const phase = { idle: 0, head: 1, exchange: 2, discarding: 3, ending: 4 } as const;
export type Phase = (typeof phase)[keyof typeof phase];

/**
 * What a client takes too long for: sending its next request, its head or its body, or the body that nobody wants any
 * more; reading a response, or the end of one that is over; closing.
 */
export type ClientTimeout =
  | 'request'
  | 'head'
  | 'body'
  | 'unwanted-body'
  | 'reading'
  | 'reading-end'
  | 'close';

/** How long it may take, in milliseconds. */
export interface TimeLimits {
  readonly headerTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** How long a body is read before its rate is judged. */
  readonly bodyJudgedAfterMs: number;
  readonly writeIdleTimeoutMs: number;
}

/** How long a refused or early answered client may go on sending before its connection is cut. */
const lingerMs = 1_000;

/** Where one connection stands and since when. It sets no timer: it is asked from time to time. */
export class ConnectionClock {
  phase: Phase = phase.idle;
  /** The client must read before anything else moves. */
  wantsDrain = false;
  readonly #socket: Pick<Socket, 'writableLength' | 'isPaused'>;
  readonly #limits: TimeLimits;
  /** When the phase began or something last moved in it, as by `performance.now()`. */
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

  /** Something moved; gives the instant. */
  noteProgress(): number {
    this.#since = performance.now();
    return this.#since;
  }

  /** Bytes came. */
  noteBytes(): void {
    // One that does not read gains no time by sending.
    if (this.phase < phase.discarding && !this.wantsDrain) this.#since = performance.now();
  }

  /** A write did not go through at once. */
  waitForDrain(): void {
    this.wantsDrain = true;
    this.#since = performance.now();
  }

  /** What the client is late with at `now`, if it is; `readsBody`: somebody wants the body of its request. */
  timeoutAt(now: number, readsBody: boolean): ClientTimeout | null {
    const waited = now - this.#since;
    const { headerTimeoutMs, keepAliveTimeoutMs, bodyIdleTimeoutMs, writeIdleTimeoutMs } = this.#limits;
    const isBusy = this.phase === phase.exchange || this.phase === phase.head;
    // The end of a response is still on its way to a client that is slow, and neither idle nor done.
    if (!isBusy && this.#socket.writableLength > 0) return waited > writeIdleTimeoutMs ? 'reading-end' : null;
    switch (this.phase) {
      case phase.idle:
        return waited > (this.#servedAny ? keepAliveTimeoutMs : headerTimeoutMs) ? 'request' : null;
      case phase.head:
        // As a whole: a byte now and then is no progress.
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
