import type { OnReadOpts, Socket } from 'node:net';

/** Longer pieces belong to whom they are passed to; others are valid until that call returns. */
export const passedOnBytes: number = 16 * 1024;

const bufferBytes = 64 * 1024;
/** What sockets read into: each piece is used up before the next read, whichever socket's that is. */
const shared = Buffer.allocUnsafeSlow(bufferBytes);
const noBytes = Buffer.alloc(0);

/**
 * Reads a socket that we open (option `onread` of `node:net`) into memory that all share. A stream would allocate 64 KiB
 * for each read, wrap it, and pass it through its queue.
 */
export class SocketReads {
  /** To open the socket with. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#buffer,
    // Must not throw, or the socket would go on with memory that has been given away: an uncaught error ends the process.
    callback: (count, buffer) => this.#pass(buffer as Buffer, count),
  };
  #buffer: Buffer = shared;
  #receive: (bytes: Buffer) => boolean = () => true;

  /**
   * Passes what is read to `receive`. Of a piece of at most {@link passedOnBytes} nothing may be kept but a copy; a longer
   * one is given away.
   */
  listen(receive: (bytes: Buffer) => void): void {
    this.#receive = (bytes) => {
      receive(bytes);
      return true;
    };
  }

  /** Leaves what is read to the stream that the socket is. */
  leaveTo(socket: Socket): void {
    this.#receive = (bytes) => socket.push(bytes.length > passedOnBytes ? bytes : Buffer.from(bytes));
    // The stream asked for bytes when the socket had connected, and asks again only once it has been given some.
    socket.push(noBytes);
  }

  /** Returns whether more may be read. */
  #pass(buffer: Buffer, count: number): boolean {
    const isFull = count === buffer.length;
    // After a whole buffer comes another, mostly: from the second on they need not be copied.
    this.#buffer = isFull ? Buffer.allocUnsafeSlow(bufferBytes) : shared;
    if (isFull && buffer !== shared) return this.#receive(buffer);
    const bytes = buffer.subarray(0, count);
    return this.#receive(count > passedOnBytes ? copyOf(bytes) : bytes);
  }
}

/** In memory of just its size, which can be released at once. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
