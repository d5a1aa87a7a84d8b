/**
 * Holds connections whose answer is complete back until everything that had come by then has been read. An upstream that
 * answers twice, late, would answer the next request with it, and every one after that with the answer to the one before.
 */
export class RestingConnections<Connection> {
  readonly #onRested: (connection: Connection) => void;
  #fresh: Connection[] = [];
  #older: Connection[] = [];
  #isTurning = false;

  constructor(onRested: (connection: Connection) => void) {
    this.#onRested = onRested;
  }

  get size(): number {
    return this.#fresh.length + this.#older.length;
  }

  add(connection: Connection): void {
    this.#fresh.push(connection);
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(this.#turn);
  }

  /** After the second turn: the first may be of the very look at the sockets that brought the answer. */
  readonly #turn = (): void => {
    const rested = this.#older;
    this.#older = this.#fresh;
    this.#fresh = [];
    for (const connection of rested) this.#onRested(connection);
    this.#isTurning = this.size > 0;
    if (this.#isTurning) setImmediate(this.#turn);
  };
}
