import type { ClockError, UseGap } from './clock-error.ts';
import type { Instant } from './register.ts';

const noError: ClockError = { aheadMs: 0, behindMs: 0 };

/** One presentation of a refresh cookie. */
export interface Presentation {
  /** The generation of the cookie that was presented. */
  readonly presented: number;
  readonly from: Instant;
  /** Infinite until there is a response. */
  to: Instant;
  /** The generation of the cookie in the response; null: refused, lost, or still on its way. */
  given: number | null;
  /** Whether it was answered 401: then it changed nothing but the session's end. */
  wasRefused: boolean;
}

/**
 * The refresh cookies of one session, and what section 3.2 of the interface promises of them. It judges only what no
 * order of the requests could explain.
 */
export class Rotation {
  readonly presentations: Presentation[] = [];
  readonly cookies = new Map<number, string>();
  readonly #parents = new Map<number, number>();
  readonly #graceMs: number;
  readonly #signIn: Presentation;
  readonly #clockError: (from: Instant, to: Instant, gaps: readonly UseGap[]) => ClockError;
  readonly #isKept: (from: Instant, to: Instant) => boolean;

  constructor(
    graceMs: number,
    signIn: { readonly from: Instant; readonly to: Instant; readonly cookie: string },
    {
      clockError = () => noError,
      isKept = () => true,
    }: {
      /** By how much the session's clock may be wrong in that time. */
      readonly clockError?: (from: Instant, to: Instant, gaps: readonly UseGap[]) => ClockError;
      /** Whether the session store has kept everything that it acknowledged in that time. */
      readonly isKept?: (from: Instant, to: Instant) => boolean;
    } = {},
  ) {
    this.#graceMs = graceMs;
    this.#clockError = clockError;
    this.#isKept = isKept;
    // A sign-in counts as issue and first presentation of generation 1.
    this.#signIn = { presented: 1, from: signIn.from, to: signIn.to, given: 1, wasRefused: false };
    this.presentations.push(this.#signIn);
    this.cookies.set(1, signIn.cookie);
  }

  /** The generations of which the clients hold the cookie, oldest first. */
  get held(): number[] {
    return [...this.cookies.keys()].toSorted((a, b) => a - b);
  }

  begin(presented: number, from: Instant): Presentation {
    const presentation = {
      presented,
      from,
      to: Number.POSITIVE_INFINITY,
      given: null,
      wasRefused: false,
    };
    this.presentations.push(presentation);
    return presentation;
  }

  /** Notes the response to a presentation, and says what is wrong with it: null if nothing is. */
  accepted(presentation: Presentation, given: number, cookie: string, to: Instant): string | null {
    presentation.to = to;
    presentation.given = given;
    const problem = this.#problemOf(presentation, given, cookie);
    this.cookies.set(given, cookie);
    if (given > presentation.presented && !this.#parents.has(given))
      this.#parents.set(given, presentation.presented);
    return problem;
  }

  #problemOf(presentation: Presentation, given: number, cookie: string): string | null {
    const { presented } = presentation;
    if (given < presented) return `cookie ${presented} was given ${given}, which is older`;
    if ((this.cookies.get(given) ?? cookie) !== cookie) return `there are two cookies ${given}`;
    if (!this.#isKept(this.#signIn.from, presentation.to)) return null;
    if (this.isReuse(presented, presentation.from)) return `cookie ${presented} was accepted: it is reuse`;
    const parent = this.#parents.get(given);
    if (given > presented && parent !== undefined && parent !== presented)
      return `cookie ${given} succeeds both ${parent} and ${presented}`;
    if (given === presented && this.#mustRotate(presentation))
      return `cookie ${presented} was not rotated though its grace was over`;
    if (given === presented + 1 && this.#rotatedEarly(presentation))
      return `cookie ${presented} was rotated within its grace`;
    return null;
  }

  /** Whether presenting that cookie from then on can only be reuse. */
  isReuse(presented: number, from: Instant): boolean {
    if (!this.#isKept(this.#signIn.from, from)) return false;
    const gaps = this.#gapsBefore(from);
    const graceSince = (at: Instant) => this.#graceMs + this.#clockError(at, from, gaps).behindMs;
    return this.presentations.some(
      (earlier) =>
        earlier.given !== null &&
        // A cookie between it and the current one was the previous one already.
        ((earlier.to <= from && earlier.presented > presented && earlier.given > earlier.presented) ||
          // A later cookie has been presented, and the grace that began then is over.
          (earlier.presented > presented && earlier.to + graceSince(earlier.from) < from)),
    );
  }

  /** Whether no order of the requests makes presenting that cookie, until then, reuse. */
  isInnocent(presented: number, to: Instant): boolean {
    if (!this.#isKept(this.#signIn.from, to)) return false;
    const others = this.presentations.filter((other) => other.presented !== presented && other.from <= to);
    if (others.some((other) => other.presented < presented && !this.#isHarmless(other, presented)))
      return false;
    const later = others.filter((other) => other.presented > presented);
    if (later.length === 0) return true;
    const firstMs = Math.min(...later.map(({ from }) => from));
    const isWithinGrace = to + this.#clockError(firstMs, to, []).aheadMs < firstMs + this.#graceMs;
    const generations = new Set(later.map((other) => other.presented));
    // The only one that was presented after it is its own successor.
    const [only] = generations;
    return isWithinGrace && generations.size === 1 && this.#parents.get(only!) === presented;
  }

  /** A presentation of an older cookie that can't have made that one worth nothing. */
  #isHarmless(older: Presentation, presented: number): boolean {
    return older.wasRefused || (older.given !== null && older.given <= presented);
  }

  /** Between all uses that can have been before `from`, and the one that is over at `to`. */
  #gapsBefore(from: Instant, to = from): readonly UseGap[] {
    const earlier = this.presentations.filter((one) => one !== this.#signIn && one.from < from);
    return [...earlier.map((one) => ({ from: one.from, to: Math.min(one.to, from) })), { from, to }].map(
      (use) => ({ from: this.#lastUse(use.from), to: use.to }),
    );
  }

  /** The earliest that the last use before that instant can have been. */
  #lastUse(before: Instant): Instant {
    const done = this.presentations.filter((one) => one.given !== null && one.to <= before);
    return Math.max(this.#signIn.from, ...done.map(({ from }) => from));
  }

  #mustRotate({ presented, from, to }: Presentation): boolean {
    const before = this.presentations.filter((other) => other.given !== null && other.to <= from);
    const issued = before.filter(({ given }) => given === presented);
    const shown = before.filter((other) => other.presented === presented);
    if (issued.length === 0 || shown.length === 0) return false;
    const firstEnd = (all: readonly Presentation[]) => Math.min(...all.map((other) => other.to));
    const startMs = Math.max(firstEnd(issued), firstEnd(shown));
    const begunMs = Math.min(...[...issued, ...shown].map((other) => other.from));
    return (
      from > startMs + this.#graceMs + this.#clockError(begunMs, to, this.#gapsBefore(from, to)).behindMs
    );
  }

  #rotatedEarly(presentation: Presentation): boolean {
    const { presented, given, from, to } = presentation;
    const others = this.presentations.filter((other) => other !== presentation);
    // Another presentation may have made that successor, earlier or at the same time.
    const isMade = others.some(
      (other) =>
        other.from <= to &&
        (other.given === given || (other.given === null && !other.wasRefused && other !== presentation)),
    );
    if (isMade) return false;
    const firstMs = Math.min(
      from,
      ...others.filter((other) => other.presented === presented).map((other) => other.from),
    );
    const issuedMs = Math.min(
      ...others.filter((other) => other.given === presented).map((other) => other.from),
    );
    const startMs = Math.max(firstMs, issuedMs);
    return to + this.#clockError(startMs, to, []).aheadMs < startMs + this.#graceMs;
  }
}
