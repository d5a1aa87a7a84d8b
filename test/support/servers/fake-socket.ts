import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { sendHeld } from '../../../src/http1/message/output.ts';

/** A socket without a network: records what is written as latin1 text, and receives what the test says, synchronously. */
export class FakeSocket extends Duplex {
  #sent = '';

  constructor() {
    super({ allowHalfOpen: true });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#sent += chunk.toString('latin1');
    done();
  }

  /** What is held is sent at once, so that tests see it. */
  get sent(): string {
    sendHeld();
    return this.#sent;
  }

  /** So that the pieces of one write are seen at once. */
  override cork(): void {}

  override uncork(): void {}

  setNoDelay(): this {
    return this;
  }

  /** Receives bytes, or latin1 text, in a later turn of the event loop: held text has been sent. */
  receive(bytes: string | Buffer): void {
    sendHeld();
    this.receiveInTurn(bytes);
  }

  /** Receives bytes in the turn under way: held text has not been sent. */
  receiveInTurn(bytes: string | Buffer): void {
    this.emit('data', typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes));
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
