/**
 * A cache of texts to values for the path of each request, where a look-up must change nothing but in the rarest case.
 * It has two generations: when the younger is full, the older is dropped and the younger takes its place. So the last
 * `size` entries that were asked for or set are always there, and at most twice as many.
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

  set(key: string, value: Value): void {
    this.#older.delete(key);
    if (this.#younger.size >= this.#size && !this.#younger.has(key)) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(key, value);
  }

  delete(key: string): void {
    if (!this.#younger.delete(key)) this.#older.delete(key);
  }

  clear(): void {
    this.#younger.clear();
    this.#older.clear();
  }

  /** Each entry once, in no order. */
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
