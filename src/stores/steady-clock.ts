/** Largest difference at which two clocks count as equal, ms; NTP keeps them much closer. */
export const clockToleranceMs = 2_000;

/** A clock that may be set, and the time that it would show had it never been set back. */
export interface SteadyClock {
  /** Present time of the clock, epoch ms. */
  now(): number;
  /**
   * Time that the clock would show had it not been set back, epoch ms, as counted in elapsed milliseconds since then. Equals
   * `now` again once the clock has caught up with the time that it showed when it was set back.
   */
  unbroken(): number;
}

/** Tracks a clock, reading by reading, by its offset from a count of elapsed milliseconds, which can't be set. */
export class ClockTrack {
  /** The clock minus the milliseconds elapsed, as last read. */
  #offset: number;
  #uncertainty: number;
  #before: { readonly offset: number; readonly until: number } | null = null;

  /** `uncertainty`: largest error of `offset`, ms. */
  constructor(offset: number, uncertainty = 0) {
    this.#offset = offset;
    this.#uncertainty = uncertainty;
  }

  /** Learns the offset that was read when `elapsed` milliseconds had passed; `uncertainty`: its largest error, ms. */
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

/** Watches the clock `wall`, epoch ms, from now on; `elapsed` counts milliseconds, whatever that clock is set to. */
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
