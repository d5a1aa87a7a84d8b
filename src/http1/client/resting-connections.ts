/**
 * Holds each connection back after a response until excess bytes that the upstream has sent are read. Otherwise those bytes would
 * be taken for the next response, and every later request would get the response to its predecessor. Bytes that come later, but
 * before the head of the next request is sent, end the connection too.
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
    // Unreferenced: while no request is waiting, the loop needn't turn just for this.
    this.#turn ??= setImmediate(this.#onTurn).unref();
  }

  /** Notes that a request is waiting for one of the connections. */
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
      // A waiting request would get a connection before the sockets have been polled again: rest for one more turn.
      this.#turn ??= setImmediate(this.#onTurn);
      this.hurry();
      return;
    }
    // No request is waiting: the next one normally arrives in the next poll, or later.
    const all = this.#older;
    this.#older = [];
    for (const connection of all) this.#onRested(connection);
  };
}
