/** How fast a body has to come. */
export interface PaceLimits {
  /** Bytes a second, averaged over the time in which somebody was ready to read them; 0: no bound. */
  readonly leastBytesPerSecond: number;
  /** Milliseconds that all of it may take; Infinity: no bound. */
  readonly wholeTimeoutMs: number;
}

/** Whether the body of one request comes fast enough. It sets no timer; instants are as by `performance.now()`. */
export class BodyPace {
  readonly #limits: PaceLimits;
  readonly #judgedAfterMs: number;
  readonly #startedAt: number;
  #bytes = 0;
  /** How long it was read, in all, until `#readySince`. */
  #readyMs = 0;
  /** Since when it is being read; NaN while the client was told to wait. */
  #readySince: number;

  /** Begins at `now`; the rate is not judged before `judgedAfterMs` of reading. */
  constructor(limits: PaceLimits, judgedAfterMs: number, now: number) {
    this.#limits = limits;
    this.#judgedAfterMs = judgedAfterMs;
    this.#startedAt = now;
    this.#readySince = now;
  }

  /** So many bytes came. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** From now on the client waits for us. */
  pause(now: number): void {
    if (Number.isNaN(this.#readySince)) return;
    this.#readyMs += now - this.#readySince;
    this.#readySince = Number.NaN;
  }

  /** From now on we wait for the client. */
  resume(now: number): void {
    if (Number.isNaN(this.#readySince)) this.#readySince = now;
  }

  /** Whether the client is too slow to be waited for any longer. */
  isTooSlow(now: number): boolean {
    const { leastBytesPerSecond, wholeTimeoutMs } = this.#limits;
    if (now - this.#startedAt > wholeTimeoutMs) return true;
    const readyMs = Number.isNaN(this.#readySince) ? this.#readyMs : this.#readyMs + now - this.#readySince;
    return readyMs >= this.#judgedAfterMs && this.#bytes * 1_000 < leastBytesPerSecond * readyMs;
  }
}
