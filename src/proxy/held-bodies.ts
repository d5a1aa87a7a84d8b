/** A body of which too little has arrived to take a connection to the upstream. */
export interface HeldBody {
  /** Called when the body has been held back for long enough. */
  release(): void;
}

/** Maximum time that a body is held back, ms. */
const longestMs = 1_000;

/** The bodies being held back, oldest first; one timer, armed while there are any, releases each after a second. */
export class HeldBodies {
  /** Time when each body was added, by `performance.now()`. */
  readonly #since = new Map<HeldBody, number>();
  #timer: NodeJS.Timeout | null = null;

  add(body: HeldBody, now: number): void {
    this.#since.set(body, now);
    this.#timer ??= setTimeout(this.#releaseDue, longestMs).unref();
  }

  delete(body: HeldBody): void {
    this.#since.delete(body);
  }

  readonly #releaseDue = (): void => {
    this.#timer = null;
    const now = performance.now();
    for (const [body, since] of this.#since) {
      const remainingMs = longestMs - (now - since);
      if (remainingMs > 0) {
        this.#timer = setTimeout(this.#releaseDue, Math.ceil(remainingMs)).unref();
        return;
      }
      this.#since.delete(body);
      body.release();
    }
  };
}
