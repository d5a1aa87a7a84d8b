import type { Socket } from 'node:net';
import { ChunkedDecoder } from '../message/chunked-decoder.ts';
import { GrowingBytes } from '../message/growing-bytes.ts';
import {
  headEnd,
  MalformedMessage,
  parseResponseHead,
  type ResponseHeadText,
} from '../message/message-head.ts';
import { Output } from '../message/output.ts';
import { releaseBuffer } from '../message/release-buffer.ts';
import type { UpstreamRequest } from './client-request.ts';
import { maxHeadBytes, PoolMember, type ResponseSource } from './pool-member.ts';
import { upgradeNamedIn } from './response-framing.ts';
import type { SocketReads } from './socket-reads.ts';
import { UpstreamError } from './upstream-error.ts';

/** A connection to an upstream: carries one request at a time, and reads its response strictly. */
export class UpstreamConnection extends PoolMember {
  #output: Output | null = null;
  #reads: SocketReads | null = null;
  #kept: Buffer | null = null;
  readonly #growing = new GrowingBytes();
  /** Number of kept bytes already searched for the end of the head. */
  #seen = 0;
  #left = 0;
  #chunked: ChunkedDecoder | null = null;

  // A getter, because the base's constructor dials before this object's own fields are set.
  get readsStream(): boolean {
    return false;
  }

  protected listenTo(socket: Socket, reads: SocketReads | null): void {
    this.#output = new Output(socket);
    this.#reads = reads;
    if (reads === null) socket.on('data', this.#onData);
    else reads.listen(this.#onData);
    socket.on('drain', this.#onDrain);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  protected get source(): ResponseSource | null {
    return this.socket ?? null;
  }

  protected carry(request: UpstreamRequest): void {
    if (!request.hasBody) {
      this.#output!.hold(request.headText);
      request.onSent();
      return;
    }
    // The part of the body that has already arrived leaves together with the head.
    const socket = this.socket!;
    socket.cork();
    this.#output!.write(request.headText);
    request.onSent();
    process.nextTick(() => socket.uncork());
  }

  write(bytes: Buffer): boolean {
    this.since = performance.now();
    if (bytes.length === 0) return true;
    const output = this.#output!;
    if (this.request?.chunked !== true) output.writeBytes('', bytes, '');
    else output.writeBytes(`${bytes.length.toString(16)}\r\n`, bytes, '\r\n');
    releaseBuffer(bytes, output.socket);
    return output.keepsUp;
  }

  endBody(): void {
    this.isSent = true;
    this.since = performance.now();
    if (this.request?.chunked === true) this.#output!.write('0\r\n\r\n');
  }

  readonly #onDrain = (): void => {
    this.since = performance.now();
    this.request?.onDrain();
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.isDead) return;
    // Unsolicited bytes: nothing that follows can be trusted.
    if (this.request === null) {
      this.destroy();
      return;
    }
    // They arrived before the request's head was sent. The request may go to another connection.
    if (this.#output!.isHolding) {
      this.fail(new UpstreamError('reset'));
      return;
    }
    // The response timeout is for the whole head: a part of the head doesn't restart it.
    if (this.framing !== null) this.since = performance.now();
    this.gotBytes = true;
    const bytes = this.#kept === null ? chunk : this.#growing.join(this.#kept, chunk);
    this.#kept = null;
    try {
      this.#read(bytes);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.fail(new UpstreamError('malformed', error));
    }
  };

  #read(bytes: Buffer): void {
    // The buffer may be empty once it has been passed on.
    const { length } = bytes;
    let at = 0;
    while (this.framing === null) {
      const end = bytes.indexOf(headEnd, Math.max(at, at + this.#seen - (headEnd.length - 1)));
      if ((end < 0 ? bytes.length - 3 : end) - at > maxHeadBytes) throw new MalformedMessage('head size');
      if (end < 0) {
        this.#kept = this.#growing.keep(bytes.subarray(at));
        this.#seen = bytes.length - at;
        return;
      }
      const head = parseResponseHead(bytes.toString('latin1', at, end));
      at = end + 4;
      this.#seen = 0;
      if (head.status === 101) {
        this.#switch(head.fields, bytes.subarray(at));
        return;
      }
      this.#readHead(head);
      if (this.isDead) return;
    }
    if (this.framing!.kind === 'chunked') {
      at = this.#chunked!.decode(bytes, at, this);
      if (this.isDead) return;
      if (this.#chunked!.done) this.#finish(length - at, this.#chunked!.takeTrailers());
    } else if (this.framing!.kind === 'length') {
      const end = Math.min(length, at + this.#left);
      this.#left -= end - at;
      if (end > at) this.onChunk(at === 0 && end === length ? bytes : bytes.subarray(at, end));
      if (this.#left === 0 && !this.isDead) this.#finish(length - end, []);
    } else if (at < length) this.onChunk(at === 0 ? bytes : bytes.subarray(at));
    this.request?.onCaughtUp();
  }

  #switch(fields: string[], bytes: Buffer): void {
    const request = this.request!;
    if (request.upgrade === null || upgradeNamedIn(fields) !== request.upgrade)
      throw new MalformedMessage('unexpected 101');
    const socket = this.socket!;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd);
    socket.off('error', this.#onError).off('close', this.#onClose);
    socket.pause();
    this.#reads?.leaveTo(socket);
    this.handOver(fields, socket, Buffer.from(bytes));
  }

  #readHead({ status, minor, fields }: ResponseHeadText): void {
    if (!this.receiveHead(status, minor, fields)) return;
    const { kind, length } = this.framing!;
    this.#left = length;
    this.#chunked = kind === 'chunked' ? new ChunkedDecoder(maxHeadBytes) : null;
  }

  onChunk(chunk: Buffer): void {
    this.request?.onData(chunk);
  }

  /** Completes the response; `extraBytes`: number of bytes that were received after it and belong to no response. */
  #finish(extraBytes: number, trailers: string[]): void {
    this.#growing.clear();
    this.complete(extraBytes === 0 && this.framing!.reusable && this.isSent, trailers);
  }

  readonly #onEnd = (): void => {
    if (this.isDead) return;
    if (this.request !== null && this.framing?.kind === 'close') this.#finish(0, []);
    else this.fail(new UpstreamError('reset'));
  };

  readonly #onError = (error?: Error): void => {
    this.fail(new UpstreamError('reset', error));
  };

  readonly #onClose = (): void => this.#onError();
}
