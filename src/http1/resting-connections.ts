/**
 * Holds connections whose response is complete back until what an upstream says late, beyond its response, has been read: the
 * next request would be answered with it, and every one after that with the answer to the one before.
 */
export class RestingConnections<Connection> {
  readonly #onRested: (connection: Connection) => void;
  #fresh: Connection[] = [];
  #older: Connection[] = [];
  #turn: NodeJS.Immediate | null = null;
  #isAwaited = false;

  constructor(onRested: (connection: Connection) => void) {
    this.#onRested = onRested;
  }

  get size(): number {
    return this.#fresh.length + this.#older.length;
  }

  add(connection: Connection): void {
    this.#fresh.push(connection);
    // It runs when the loop turns for something else: where nobody waits it need not turn for this.
    this.#turn ??= setImmediate(this.#onTurn).unref();
  }

  /** Somebody waits for one of them. */
  hurry(): void {
    if (this.#turn === null) return;
    this.#isAwaited = true;
    this.#turn.ref();
  }

  readonly #onTurn = (): void => {
    const isAwaited = this.#isAwaited;
    this.#isAwaited = false;
    const rested = this.#older;
    this.#older = this.#fresh;
    this.#fresh = [];
    this.#turn = null;
    for (const connection of rested) this.#onRested(connection);
    if (this.#older.length === 0) return;
    if (isAwaited) {
      // Whoever waits would have it now, before the sockets have been looked at again: one turn more.
      this.#turn ??= setImmediate(this.#onTurn);
      this.hurry();
      return;
    }
    // Whoever comes does so after that look.
    const all = this.#older;
    this.#older = [];
    for (const connection of all) this.#onRested(connection);
  };
}
