/**
 * A bounded cache of texts to values, for the path of each request, where a look-up must change nothing but in the rarest case.
 * It has two generations: when the younger is full, the older is dropped and the younger takes its place. So the `size` entries
 * that were asked for or set last are always there, and at most twice as many.
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

  /** Returns true if there was such an entry. */
  delete(key: string): boolean {
    return this.#younger.delete(key) || this.#older.delete(key);
  }

  clear(): void {
    this.#younger.clear();
    this.#older.clear();
  }

  /** Each entry once, in no order; entries may be deleted meanwhile. */
  *entries(): Iterable<[key: string, value: Value]> {
    yield* this.#younger;
    yield* this.#older;
  }

  /** The value of each entry, as {@link entries}. */
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
