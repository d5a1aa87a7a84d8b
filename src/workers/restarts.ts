/** How long a process has to serve until its end counts as the first one again, ms. */
const soundAfterMs = 60_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** The pauses before a worker is started again: none after the first end, then longer each time. */
export class Restarts {
  readonly #now: () => number;
  #ends = 0;
  #servedSince: number | null = null;

  /** `now` in ms; default: a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A process serves from now on. */
  served(): void {
    this.#servedSince = this.#now();
  }

  /** The pause, ms, now that a process has ended. */
  pauseMs(): number {
    if (this.#servedSince !== null && this.#now() - this.#servedSince >= soundAfterMs) this.#ends = 0;
    this.#servedSince = null;
    this.#ends += 1;
    return this.#ends === 1 ? 0 : Math.min(firstPauseMs * 2 ** (this.#ends - 2), longestPauseMs);
  }
}
