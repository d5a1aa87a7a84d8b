import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createReplyCheck } from './reply-check.ts';

/** A socket to Redis that ends with an error instead of handing the driver a reply that it can't process. */
export class CheckedStream extends Duplex {
  readonly #socket: Socket;
  readonly #check = createReplyCheck();

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    for (const event of ['connect', 'secureConnect', 'timeout']) socket.on(event, () => this.emit(event));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  get connecting(): boolean {
    return this.#socket.connecting;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  setNoDelay(isOn?: boolean): this {
    this.#socket.setNoDelay(isOn);
    return this;
  }

  setKeepAlive(isOn?: boolean, initialDelayMs?: number): this {
    this.#socket.setKeepAlive(isOn, initialDelayMs);
    return this;
  }

  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    this.#socket.setTimeout(milliseconds);
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#check.sent(bytes);
    this.#socket.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #receive(bytes: Buffer): void {
    if (this.destroyed) return;
    try {
      const checked = this.#check.received(bytes);
      if (checked.length > 0 && !this.push(checked)) this.#socket.pause();
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}
