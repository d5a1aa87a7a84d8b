/**
 * A bounded cache of values by text, for the path of every request: a look-up rarely changes anything. It has two generations:
 * when the younger is full, the older is dropped and the younger takes its place. So it always has the `size` entries that
 * were looked up or set last, and at most twice as many in all.
 */
export class RecentCache<Value> {
  readonly #size: number;
  #younger = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): Value | undefined {
    const value = this.#younger.get(key);
    return value === undefined && this.#older.size > 0 ? this.#takeOlder(key) : value;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value): void {
    this.#older.delete(key);
    if (this.#younger.size >= this.#size && !this.#younger.has(key)) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(key, value);
  }

  /** Deletes an entry; returns true if there was one. */
  delete(key: string): boolean {
    return this.#younger.delete(key) || this.#older.delete(key);
  }

  clear(): void {
    this.#younger.clear();
    this.#older.clear();
  }

  /** Each entry once, in no particular order; entries may be deleted during the iteration. */
  *entries(): Iterable<[key: string, value: Value]> {
    yield* this.#younger;
    yield* this.#older;
  }

  /** The value of each entry, in the order of {@link entries}. */
  *values(): Iterable<Value> {
    yield* this.#younger.values();
    yield* this.#older.values();
  }

  #takeOlder(key: string): Value | undefined {
    const value = this.#older.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}
