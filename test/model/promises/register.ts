/** Milliseconds since the run began. A request begins before it is sent and ends after its response was read. */
export type Instant = number;

/** A write of which it may be unknown whether, and until when, it takes effect. */
export interface Write<Value> {
  readonly value: Value;
  readonly from: Instant;
  /** The last instant at which it may take effect; infinite while that is open. */
  readonly until: () => Instant;
  /** Whether it was acknowledged. */
  readonly isCertain: boolean;
}

/** A write on its way; exactly one of its methods is called. */
export interface PendingWrite {
  acknowledge(at: Instant): void;
  refuse(): void;
  /** Nobody knows: it took effect by `until`, or not at all. */
  lose(until: () => Instant): void;
}

/** How long overwritten values are remembered; no judgement reaches that far back. */
const rememberedMs = 120_000;

/**
 * The values that one field of a record may have, given who asked for what and what was acknowledged. Writes take effect
 * at one instant between their beginning and their end, in an order that no one else knows.
 */
export class Register<Value> {
  #writes: Write<Value>[];

  constructor(value: Value, from: Instant, until: Instant) {
    this.#writes = [{ value, from, until: () => until, isCertain: true }];
  }

  begin(value: Value, from: Instant): PendingWrite {
    this.#forget(from - rememberedMs);
    let write: Write<Value> = { value, from, until: () => Number.POSITIVE_INFINITY, isCertain: false };
    this.#writes.push(write);
    const replace = (...by: Write<Value>[]) => {
      this.#writes.splice(this.#writes.indexOf(write), 1, ...by);
      if (by[0] !== undefined) write = by[0];
    };
    return {
      acknowledge: (at) => replace({ value, from, until: () => at, isCertain: true }),
      refuse: () => replace(),
      lose: (until) => replace({ value, from, until, isCertain: false }),
    };
  }

  /** Every value that it may have had at some instant from `from` to `to`. */
  possible(from: Instant, to: Instant): Value[] {
    const values = this.#writes.filter((write) => write.from <= to && !this.#isOverwritten(write, from));
    return values.map(({ value }) => value);
  }

  /** The value of the write that began last, whatever became of it. */
  latest(): Value {
    return this.#writes.at(-1)!.value;
  }

  #isOverwritten(write: Write<Value>, at: Instant): boolean {
    const until = write.until();
    return this.#writes.some(
      (later) => later.isCertain && later !== write && later.from >= until && later.until() <= at,
    );
  }

  #forget(before: Instant): void {
    if (this.#writes.length > 40)
      this.#writes = this.#writes.filter((write) => !this.#isOverwritten(write, before));
  }
}
