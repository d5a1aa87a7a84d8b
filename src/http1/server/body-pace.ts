/** Limits of a body's pace. */
export interface PaceLimits {
  /** Bytes per second, averaged over the time in which the body was being read; 0: no limit. */
  readonly leastBytesPerSecond: number;
  /** Time for the whole body, ms; Infinity: no limit. */
  readonly wholeTimeoutMs: number;
}

/** Pace at which a request's body arrives. Sets no timer; instants are by `performance.now()`. */
export class BodyPace {
  readonly #limits: PaceLimits;
  readonly #judgedAfterMs: number;
  readonly #startedAt: number;
  #bytes = 0;
  /** Total time of reading the body up to `#readySince`, ms. */
  #readyMs = 0;
  /** Start of the current reading; NaN while the client is paused. */
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

  /** Notes that we stop reading: time doesn't count against the client until {@link resume}. */
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
