import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';

/**
 * The checks of one row of a corpus. Those that hold are one assertion, each of those that fail is its own: a corpus makes
 * tens of thousands, and to write and to parse a line for each took as long as the requests.
 */
export class RowChecks {
  readonly #t: Test;
  #held = 0;

  constructor(t: Test) {
    this.#t = t;
  }

  /** As `t.same`. */
  same(found: unknown, wanted: unknown, what: string): void {
    if (isDeepStrictEqual(found, wanted)) this.#held += 1;
    else this.#t.same(found, wanted, what);
  }

  /** As `t.ok`. */
  ok(holds: boolean, what: string): void {
    if (holds) this.#held += 1;
    else this.#t.fail(what);
  }

  /** Reports those that held. */
  end(): void {
    this.#t.ok(this.#held > 0, `${this.#held} checks hold`);
  }
}
