import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A socket without a network: what is written is kept as latin1 text, what comes is said by the test, at once. */
export class FakeSocket extends Duplex {
  sent = '';

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.sent += chunk.toString('latin1');
    done();
  }

  /** Nothing is held back: tests look at once. */
  override cork(): void {}

  override uncork(): void {}

  setNoDelay(): this {
    return this;
  }

  /** Bytes came: latin1 text. */
  receive(text: string): void {
    this.emit('data', Buffer.from(text, 'latin1'));
  }

  get asSocket(): Socket {
    return this as unknown as Socket;
  }
}

/** The same bytes at once, and one by one: what reads them must not care. */
export function cuts(text: string): readonly (readonly [string, readonly string[]])[] {
  return [
    ['at once', [text]],
    ['byte by byte', [...text]],
  ];
}
