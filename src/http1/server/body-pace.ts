/** Limits on the pace of a request body. */
export interface PaceLimits {
  /** Minimum rate in bytes per second, averaged over the time spent reading the body; 0: no limit. */
  readonly leastBytesPerSecond: number;
  /** Maximum time for the whole body, pauses included, ms; Infinity: no limit. */
  readonly wholeTimeoutMs: number;
}

/** Measures the pace of a request body. Sets no timer; instants are values of `performance.now()`. */
export class BodyPace {
  readonly #limits: PaceLimits;
  readonly #judgedAfterMs: number;
  readonly #startedAt: number;
  #bytes = 0;
  /** Total time spent reading the body, without the current stretch, ms. */
  #readyMs = 0;
  /** Start of the current stretch of reading; NaN while reading is paused. */
  #readySince: number;

  constructor(limits: PaceLimits, judgedAfterMs: number, now: number) {
    this.#limits = limits;
    this.#judgedAfterMs = judgedAfterMs;
    this.#startedAt = now;
    this.#readySince = now;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Notes that we have stopped reading: the time until {@link resume} doesn't count against the client's rate. */
  pause(now: number): void {
    if (Number.isNaN(this.#readySince)) return;
    this.#readyMs += now - this.#readySince;
    this.#readySince = Number.NaN;
  }

  resume(now: number): void {
    if (Number.isNaN(this.#readySince)) this.#readySince = now;
  }

  isTooSlow(now: number): boolean {
    const { leastBytesPerSecond, wholeTimeoutMs } = this.#limits;
    if (now - this.#startedAt > wholeTimeoutMs) return true;
    const readyMs = Number.isNaN(this.#readySince) ? this.#readyMs : this.#readyMs + now - this.#readySince;
    return readyMs >= this.#judgedAfterMs && this.#bytes * 1_000 < leastBytesPerSecond * readyMs;
  }
}
