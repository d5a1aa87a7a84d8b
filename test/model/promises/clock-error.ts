import type { Instant } from './register.ts';

/** By how much the clock of a session may have been wrong in some time, ms. */
export interface ClockError {
  /** So much more than really passed may have passed by it: a grace ends early. */
  readonly aheadMs: number;
  /** So much less: a grace ends late. */
  readonly behindMs: number;
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
   * What a step did to sessions counts until the clock has caught up. `lastUse` is the earliest that the session's last use
   * before `to` can have been: once the clock is close to what it showed then, nothing tells that it has been set back.
   */
  error(from: Instant, to: Instant, lastUse: Instant): ClockError {
    let [aheadMs, behindMs] = [this.#alwaysMs, this.#alwaysMs];
    for (const { at, byMs, until } of this.#steps) {
      if (at > to || until + byMs < from) continue;
      aheadMs += byMs;
      const isNoticed = to < lastUse + byMs - longestHoldMs - this.#alwaysMs;
      behindMs += isNoticed ? Math.min(byMs, longestHoldMs) : byMs;
    }
    return { aheadMs, behindMs };
  }
}
