/** How fast a body has to arrive. */
export interface PaceLimits {
  /** Bytes per second, averaged over the time in which the body was being read; 0: no limit. */
  readonly leastBytesPerSecond: number;
  /** Milliseconds that the whole body may take; Infinity: no limit. */
  readonly wholeTimeoutMs: number;
}

/** Whether the body of one request arrives fast enough. Sets no timer; instants are by `performance.now()`. */
export class BodyPace {
  readonly #limits: PaceLimits;
  readonly #judgedAfterMs: number;
  readonly #startedAt: number;
  #bytes = 0;
  /** How long the body was being read in total, up to `#readySince`. */
  #readyMs = 0;
  /** Since when it has been read; NaN while the client is paused. */
  #readySince: number;

  /** Starts at `now`; the rate is ignored for the first `judgedAfterMs` of reading. */
  constructor(limits: PaceLimits, judgedAfterMs: number, now: number) {
    this.#limits = limits;
    this.#judgedAfterMs = judgedAfterMs;
    this.#startedAt = now;
    this.#readySince = now;
  }

  /** Adds received bytes. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** We stop reading: the time that follows doesn't count against the client. */
  pause(now: number): void {
    if (Number.isNaN(this.#readySince)) return;
    this.#readyMs += now - this.#readySince;
    this.#readySince = Number.NaN;
  }

  /** We read again. */
  resume(now: number): void {
    if (Number.isNaN(this.#readySince)) this.#readySince = now;
  }

  /** Whether the client is too slow to wait for any longer. */
  isTooSlow(now: number): boolean {
    const { leastBytesPerSecond, wholeTimeoutMs } = this.#limits;
    if (now - this.#startedAt > wholeTimeoutMs) return true;
    const readyMs = Number.isNaN(this.#readySince) ? this.#readyMs : this.#readyMs + now - this.#readySince;
    return readyMs >= this.#judgedAfterMs && this.#bytes * 1_000 < leastBytesPerSecond * readyMs;
  }
}
