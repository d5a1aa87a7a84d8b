/** Clocks that differ by no more than this count as the same, ms: NTP keeps them far closer. */
export const clockToleranceMs = 2_000;

/** A clock that may be set, and the time it would show had it not been set back. */
export interface SteadyClock {
  /** What the clock shows, epoch ms. */
  now(): number;
  /**
   * What it would show had it not been set back, epoch ms, by the milliseconds that have really passed since; `now`
   * again once the clock has caught up with the instant at which it was set back.
   */
  unbroken(): number;
}

/** Keeps track of a clock as it is read: of its distance to a count of milliseconds that can't be set. */
export class ClockTrack {
  /** The clock minus the count, ms, as last read. */
  #offset: number;
  #uncertainty: number;
  #before: { readonly offset: number; readonly until: number } | null = null;

  /** `uncertainty`: how far `offset` may be off, ms. */
  constructor(offset: number, uncertainty = 0) {
    this.#offset = offset;
    this.#uncertainty = uncertainty;
  }

  /** The clock was read when the count was `elapsed`. */
  learn(offset: number, elapsed: number, uncertainty = 0): void {
    const setBackMs = this.#offset - offset;
    if (setBackMs > clockToleranceMs + uncertainty + this.#uncertainty)
      this.#before = { offset: this.#offset, until: elapsed + this.#offset };
    this.#offset = offset;
    this.#uncertainty = uncertainty;
  }

  now(elapsed: number): number {
    return Math.floor(elapsed + this.#offset);
  }

  /** As {@link SteadyClock.unbroken}. */
  unbroken(elapsed: number): number {
    if (this.#before !== null && elapsed + this.#offset >= this.#before.until) this.#before = null;
    return Math.floor(elapsed + (this.#before?.offset ?? this.#offset));
  }
}

/** Watches the clock `wall`, epoch ms, from now on; `elapsed` counts milliseconds, unaffected by changes of the time. */
export function createSteadyClock(
  wall: () => number,
  elapsed: () => number = () => performance.now(),
): SteadyClock {
  const track = new ClockTrack(wall() - elapsed());
  return {
    now: wall,
    unbroken() {
      const at = elapsed();
      track.learn(wall() - at, at);
      return track.unbroken(at);
    },
  };
}
