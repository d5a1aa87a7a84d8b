import type { Instant } from './register.ts';

/** Something that ends sessions, or a key, or may have done so. */
export interface Ending {
  readonly why: string;
  readonly from: Instant;
  /** The last instant at which it may take effect; infinite while that is open. */
  until: () => Instant;
  /** Whether it was acknowledged, and what it ended can't have come back. */
  isCertain: () => boolean;
  /** A session that it spares: that of the user who changes their own password. */
  readonly spares?: object;
}

/** An end on its way; exactly one of its methods is called. */
export interface PendingEnding {
  acknowledge(at: Instant): void;
  refuse(): void;
  lose(until: () => Instant): void;
}

/** What ended, or may have ended, one thing: in the order in which it began. */
export class Endings {
  #all: Ending[] = [];

  /** `isKept`: whether what was acknowledged then can't be lost by a store that fails over. */
  begin(why: string, from: Instant, spares?: object, isKept = () => true): PendingEnding {
    const ending: Ending = {
      why,
      from,
      until: () => Number.POSITIVE_INFINITY,
      isCertain: () => false,
      ...(spares !== undefined && { spares }),
    };
    this.#all.push(ending);
    return {
      acknowledge(at) {
        ending.until = () => at;
        ending.isCertain = isKept;
      },
      refuse: () => {
        this.#all = this.#all.filter((other) => other !== ending);
      },
      lose(until) {
        ending.until = until;
      },
    };
  }

  /** It has ended by then, whatever else is true: an end that began after `since` was acknowledged. */
  hasEnded(by: Instant, since: Instant, of?: object): boolean {
    return this.#all.some(
      (ending) =>
        ending.isCertain() && ending.from >= since && ending.until() <= by && (of ?? 0) !== ending.spares,
    );
  }

  /** It may have ended at some instant up to then: an end that reached beyond `since` had begun. */
  mayHaveEnded(by: Instant, since: Instant, of?: object): boolean {
    return this.#all.some(
      (ending) =>
        ending.from <= by && ending.until() >= since && ((of ?? 0) !== ending.spares || !ending.isCertain()),
    );
  }

  /** The first acknowledged end after `since`. */
  first(since: Instant, of?: object): Ending | undefined {
    return this.#all.find(
      (ending) => ending.isCertain() && ending.from >= since && (of ?? 0) !== ending.spares,
    );
  }
}
