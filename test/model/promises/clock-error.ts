import type { Instant } from './register.ts';

/** By how much the clock of a session may have been wrong in some time, ms. */
export interface ClockError {
  /** So much more than really passed may have passed by it: a grace ends early. */
  readonly aheadMs: number;
  /** So much less: a grace ends late. */
  readonly behindMs: number;
}

/** Time between two uses of a session. */
export interface UseGap {
  /** The earliest that the earlier one can have been. */
  readonly from: Instant;
  /** The latest that the later one can have been. */
  readonly to: Instant;
}

/** A clock that is set, to be set right again. */
export interface ClockStep {
  readonly at: Instant;
  /** To either side, ms. */
  readonly byMs: number;
  /** Infinite while it lasts. */
  until: Instant;
}

/**
 * A clock that is behind a session's last use by more than that is known to have been set back, and the session's time goes
 * on: `clockToleranceMs` in src/stores.
 */
const longestHoldMs = 2_000;

/** The steps of the clocks by which sessions go. */
export class ClockSteps {
  readonly #steps: ClockStep[] = [];
  readonly #alwaysMs: number;

  /** `alwaysMs`: how far those clocks are apart all the time, and how exactly instants are compared. */
  constructor(alwaysMs: number) {
    this.#alwaysMs = alwaysMs;
  }

  begin(at: Instant, byMs: number): ClockStep {
    const step = { at, byMs, until: Number.POSITIVE_INFINITY };
    this.#steps.push(step);
    return step;
  }

  /**
   * What a step did to sessions counts until the clock has caught up. `gaps` are those between the session's uses up to
   * `to`: if the clock was close at one use to what it showed at the one before, nothing told that it had been set back.
   */
  error(from: Instant, to: Instant, gaps: readonly UseGap[]): ClockError {
    let [aheadMs, behindMs] = [this.#alwaysMs, this.#alwaysMs];
    for (const { at, byMs, until } of this.#steps) {
      if (at > to || until + byMs < from) continue;
      aheadMs += byMs;
      const isNoticed = gaps.every(
        (gap) => gap.to < at || gap.to < gap.from + byMs - longestHoldMs - this.#alwaysMs,
      );
      behindMs += isNoticed ? Math.min(byMs, longestHoldMs) : byMs;
    }
    return { aheadMs, behindMs };
  }
}
