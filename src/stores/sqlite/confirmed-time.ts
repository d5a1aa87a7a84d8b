import type { Database, Statement } from 'better-sqlite3';
import { clockToleranceMs } from '../steady-clock.ts';

/** How long a clock that jumped ahead has to go on evenly until it is believed, ms. */
const doubtMs = 24 * 3_600_000;

/** A clock, and a count of milliseconds that goes on when the clock is set. */
export interface WatchedClock {
  readonly now: () => number;
  readonly elapsed: () => number;
}

/**
 * The time that has certainly come. A clock that jumps ahead, by a mistake or while nothing ran, may go back: as what is
 * deleted does not come back with it, such a clock is believed only after a day; until then the confirmed time goes on
 * with what really passes. It is kept in the file, for a process that starts while the clock is wrong.
 */
export class ConfirmedTime {
  readonly #clock: WatchedClock;
  readonly #select: Statement<[], number | null>;
  readonly #update: Statement<[number]>;
  /** As of the last call; all epoch ms or milliseconds elapsed. */
  #confirmed: number;
  #wall: number;
  #elapsed: number;
  #doubtedSince: number | null = null;

  constructor(db: Database, clock: WatchedClock) {
    this.#clock = clock;
    this.#select = db.prepare('SELECT confirmed FROM clock').pluck() as Statement<[], number | null>;
    this.#update = db.prepare('UPDATE clock SET confirmed = ?');
    this.#wall = clock.now();
    this.#elapsed = clock.elapsed();
    this.#confirmed = Math.min(this.#select.get() ?? this.#wall, this.#wall);
  }

  /** Never ahead of the clock, epoch ms. */
  now(): number {
    const { now, elapsed } = this.#clock;
    return Math.min(this.#confirmed + elapsed() - this.#elapsed, now());
  }

  /** Compares clocks again, and keeps what is confirmed by now, epoch ms; within a transaction, at intervals. */
  confirm(): number {
    const wall = this.#clock.now();
    const elapsed = this.#clock.elapsed();
    const passedMs = elapsed - this.#elapsed;
    const jumpedMs = wall - this.#wall - passedMs;
    // Or what another process on the file has confirmed.
    const confirmed = Math.max(this.#confirmed + passedMs, this.#select.get() ?? Number.NEGATIVE_INFINITY);
    if (wall - confirmed <= clockToleranceMs) this.#doubtedSince = null;
    else if (this.#doubtedSince === null || Math.abs(jumpedMs) > clockToleranceMs)
      this.#doubtedSince = elapsed;
    const isBelieved = this.#doubtedSince === null || elapsed - this.#doubtedSince >= doubtMs;
    this.#confirmed = isBelieved ? wall : confirmed;
    this.#wall = wall;
    this.#elapsed = elapsed;
    this.#update.run(Math.floor(this.#confirmed));
    return this.#confirmed;
  }
}
