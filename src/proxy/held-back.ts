/** A body of which too little has come for an upstream to be taken for it. */
export interface HeldBackBody {
  /** It has been held back for long enough. */
  release(): void;
}

/** How long a body that comes slowly is held back, in milliseconds. */
const longestMs = 1_000;

/** Bodies in the order they began; one timer, set while there are some, releases each after a second. */
export class HeldBack {
  /** When each began, as by `performance.now()`. */
  readonly #since = new Map<HeldBackBody, number>();
  #timer: NodeJS.Timeout | null = null;

  add(body: HeldBackBody, now: number): void {
    this.#since.set(body, now);
    this.#timer ??= setTimeout(this.#look, longestMs).unref();
  }

  delete(body: HeldBackBody): void {
    this.#since.delete(body);
  }

  readonly #look = (): void => {
    this.#timer = null;
    const now = performance.now();
    for (const [body, since] of this.#since) {
      const leftMs = longestMs - (now - since);
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#look, Math.ceil(leftMs)).unref();
        return;
      }
      this.#since.delete(body);
      body.release();
    }
  };
}
