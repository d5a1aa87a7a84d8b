/** Largest difference at which two clocks count as equal, ms; NTP keeps them much closer. */
export const clockToleranceMs = 2_000;

/** A clock that may be set, and the time it would show had it not been set back. */
export interface SteadyClock {
  /** Present time of the clock, epoch ms. */
  now(): number;
  /**
   * Time that the clock would show had it not been set back, epoch ms, by the milliseconds that have really passed since;
   * `now` again once the clock has caught up with the instant at which it was set back.
   */
  unbroken(): number;
}

/** Tracks the distance of a clock to milliseconds that can't be set, reading by reading. */
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

  /** Learns a reading that was taken at `elapsed`. */
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

/** Watches the clock `wall`, epoch ms, from now on; `elapsed`: milliseconds elapsed, whatever the clock is set to. */
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
