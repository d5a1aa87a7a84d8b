import type { OnReadOpts, Socket } from 'node:net';

/** Maximum size, bytes, of a piece that is valid only until its receiver returns; a longer piece belongs to the receiver. */
export const passedOnBytes: number = 16 * 1024;

const bufferBytes = 64 * 1024;
/** Read buffer shared by all sockets: each piece is used up before any socket is read again. */
const shared = Buffer.allocUnsafeSlow(bufferBytes);
const noBytes = Buffer.alloc(0);

/**
 * Reads a socket that we open (option `onread` of `node:net`) into memory shared by all sockets. A stream would allocate 64 KiB
 * for each read, wrap it, and pass it through its queue.
 */
export class SocketReads {
  readonly onread: OnReadOpts = {
    buffer: () => this.#buffer,
    // Must not throw: the socket would go on reading into memory that has been given away (an uncaught error ends the process).
    callback: (count, buffer) => this.#pass(buffer as Buffer, count),
  };
  #buffer: Buffer = shared;
  #receive: (bytes: Buffer) => boolean = () => true;

  /**
   * Passes received bytes to `receive`. A piece of at most {@link passedOnBytes} may only be kept as a copy; a longer one belongs
   * to `receive`.
   */
  listen(receive: (bytes: Buffer) => void): void {
    this.#receive = (bytes) => {
      receive(bytes);
      return true;
    };
  }

  /** Passes further bytes to the socket's own stream. */
  leaveTo(socket: Socket): void {
    this.#receive = (bytes) => socket.push(bytes.length > passedOnBytes ? bytes : Buffer.from(bytes));
    // The stream asked for bytes when the socket had connected, and asks again only once it has been given some.
    socket.push(noBytes);
  }

  /** Passes on the bytes just read; returns true if more may be read. */
  #pass(buffer: Buffer, count: number): boolean {
    const isFull = count === buffer.length;
    // A full buffer is usually followed by another: from the second on, none is copied.
    this.#buffer = isFull ? Buffer.allocUnsafeSlow(bufferBytes) : shared;
    if (isFull && buffer !== shared) return this.#receive(buffer);
    const bytes = buffer.subarray(0, count);
    return this.#receive(count > passedOnBytes ? copyOf(bytes) : bytes);
  }
}

/** Copies bytes into memory of exactly their size, which can be released at once. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
