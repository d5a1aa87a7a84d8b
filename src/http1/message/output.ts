import type { Socket } from 'node:net';

/** Maximum length of held text; longer text is sent at once, so that it neither waits nor piles up. */
const mostHeld = 16 * 1024;

let waiting: Output[] = [];

/**
 * The output of a connection. Text can be held until the event loop's turn ends: waking a sleeping peer costs the kernel more
 * than the write itself; writes sent together wake the peer once, whereas writes spread over the turn may each wake it again.
 *
 * Everything written on the socket goes through here, so that nothing overtakes held text; {@link flush} sends it before the
 * socket is ended or handed over. Destroying the socket drops held text.
 */
export class Output {
  readonly socket: Socket;
  #held = '';

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Sends text, latin1, when the turn ends. */
  hold(text: string): void {
    if (this.#held === '') {
      if (waiting.length === 0) setImmediate(sendHeld);
      waiting.push(this);
    }
    this.#held += text;
    if (this.#held.length > mostHeld) this.flush();
  }

  /** Sends text, latin1, at once. */
  write(text: string): void {
    const held = this.#held;
    this.#held = '';
    this.socket.write(held === '' ? text : held + text, 'latin1');
  }

  /** Sends bytes between two texts, latin1, at once and in one write; the caller gives up the buffer. */
  writeBytes(before: string, bytes: Buffer, after: string): void {
    const { socket } = this;
    const first = this.#held + before;
    this.#held = '';
    if (first === '' && after === '') {
      socket.write(bytes);
      return;
    }
    socket.cork();
    if (first !== '') socket.write(first, 'latin1');
    socket.write(bytes);
    if (after !== '') socket.write(after, 'latin1');
    socket.uncork();
  }

  flush(): void {
    if (this.#held === '') return;
    const text = this.#held;
    this.#held = '';
    if (!this.socket.destroyed) this.socket.write(text, 'latin1');
  }

  /** True while held text has not been sent. */
  get isHolding(): boolean {
    return this.#held !== '';
  }

  /** False while unsent bytes reach the socket's high-water mark, because the peer reads too slowly. */
  get keepsUp(): boolean {
    return this.socket.writableLength < this.socket.writableHighWaterMark;
  }
}

/** Sends the held text of all connections; called at the end of the turn. */
export function sendHeld(): void {
  const outputs = waiting;
  waiting = [];
  for (const output of outputs) output.flush();
}
