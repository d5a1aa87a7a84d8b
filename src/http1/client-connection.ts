import type { Socket } from 'node:net';
import { ChunkedDecoder } from './chunked-decoder.ts';
import {
  type ConnectionOwner,
  defaultKeepAliveMs,
  type PooledConnection,
  type UpstreamRequest,
} from './client-request.ts';
import { connectEvent, connectSocket, type SocketTarget } from './client-socket.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { holdWrites } from './held-writes.ts';
import { headEnd, MalformedMessage, parseResponseHead, type ResponseHeadText } from './message-head.ts';
import { releaseBuffer } from './release-buffer.ts';
import { assertNoInterimBody, framingOf, type ResponseFraming, upgradeNamedIn } from './response-framing.ts';
import { UpstreamError } from './upstream-error.ts';

const maxHeadBytes = 64 * 1024;
/** Interim responses to one request; more are taken for a flood. */
const maxInterim = 32;

/** Opens a connection, owned by a pool. */
export function openUpstreamConnection(target: SocketTarget, owner: ConnectionOwner): UpstreamConnection {
  return new UpstreamConnection(connectSocket(target), owner, connectEvent(target), defaultKeepAliveMs);
}

/** One connection to an upstream: carries one request at a time, and reads its response strictly. */
export class UpstreamConnection implements PooledConnection {
  /** Responses read so far. */
  responses = 0;
  /** When it last became free or made progress, by `performance.now()`. */
  since = performance.now();
  /** How long it may stay free, in milliseconds. */
  keepAliveMs: number;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #request: UpstreamRequest | null = null;
  #connected = false;
  #sent = false;
  #kept: Buffer | null = null;
  readonly #growing = new GrowingBytes();
  /** How many of the kept bytes have been searched for the end of the head. */
  #seen = 0;
  #headSeen = false;
  #interim = 0;
  #left = 0;
  #framing: ResponseFraming | null = null;
  #chunked: ChunkedDecoder | null = null;
  #gotBytes = false;
  #dead = false;

  constructor(
    socket: Socket,
    owner: ConnectionOwner,
    connectEvent: 'connect' | 'secureConnect',
    keepAliveMs: number,
  ) {
    this.#socket = socket;
    this.#owner = owner;
    this.keepAliveMs = keepAliveMs;
    socket.setNoDelay(true);
    socket.on(connectEvent, () => this.#onConnect());
    socket.on('data', this.#onData);
    socket.on('drain', this.#onDrain);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  send(request: UpstreamRequest): void {
    this.#request = request;
    request.connection = this;
    this.#headSeen = false;
    this.#gotBytes = false;
    this.#interim = 0;
    this.#sent = !request.hasBody;
    this.since = performance.now();
    if (request.takenAt === 0) request.takenAt = this.since;
    if (this.#connected) this.#writeHead(request);
  }

  #onConnect(): void {
    this.#connected = true;
    this.since = performance.now();
    if (this.#request !== null) this.#writeHead(this.#request);
  }

  #writeHead(request: UpstreamRequest): void {
    if (!request.hasBody) {
      holdWrites(this.#socket);
      this.#socket.write(request.headText, 'latin1');
      request.onSent();
      return;
    }
    // The part of the body that has already arrived leaves together with the head.
    this.#socket.cork();
    this.#socket.write(request.headText, 'latin1');
    request.onSent();
    process.nextTick(() => this.#socket.uncork());
  }

  /**
   * Sends bytes of the body, in the framing that the head announced; false if the upstream doesn't keep up. The caller
   * gives the buffer away.
   */
  write(bytes: Buffer): boolean {
    this.since = performance.now();
    if (bytes.length === 0) return true;
    const socket = this.#socket;
    if (this.#request?.chunked !== true) socket.write(bytes);
    else {
      socket.cork();
      socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
      socket.write(bytes);
      socket.write('\r\n', 'latin1');
      socket.uncork();
    }
    releaseBuffer(bytes, socket);
    // Nothing to wait for if the kernel accepted all of it at once, however much it was.
    return socket.writableLength < socket.writableHighWaterMark;
  }

  endBody(): void {
    this.#sent = true;
    this.since = performance.now();
    if (this.#request?.chunked === true) this.#socket.write('0\r\n\r\n', 'latin1');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.since = performance.now();
    this.#socket.resume();
  }

  destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#request = null;
    this.#socket.destroy();
    this.#owner.onGone(this);
  }

  readonly #onDrain = (): void => {
    this.since = performance.now();
    this.#request?.onDrain();
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#dead) return;
    // Bytes that no request asked for: nothing that follows can be trusted.
    if (this.#request === null) {
      this.destroy();
      return;
    }
    // The timeout is for the whole head: a byte now and then is no progress.
    if (this.#headSeen) this.since = performance.now();
    this.#gotBytes = true;
    const bytes = this.#kept === null ? chunk : this.#growing.join(this.#kept, chunk);
    this.#kept = null;
    try {
      this.#read(bytes);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#fail(new UpstreamError('malformed', error));
    }
  };

  #read(bytes: Buffer): void {
    // The buffer may be empty once it has been passed on.
    const { length } = bytes;
    let at = 0;
    while (!this.#headSeen) {
      const end = bytes.indexOf(headEnd, Math.max(at, at + this.#seen - (headEnd.length - 1)));
      if ((end < 0 ? bytes.length - 3 : end) - at > maxHeadBytes) throw new MalformedMessage('head size');
      if (end < 0) {
        this.#kept = bytes.subarray(at);
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
      if (this.#dead) return;
    }
    if (this.#framing!.kind === 'chunked') {
      at = this.#chunked!.decode(bytes, at, this);
      if (this.#dead) return;
      if (this.#chunked!.done) this.#finish(length - at, this.#chunked!.takeTrailers());
    } else if (this.#framing!.kind === 'length') {
      const end = Math.min(length, at + this.#left);
      this.#left -= end - at;
      if (end > at) this.onChunk(at === 0 && end === length ? bytes : bytes.subarray(at, end));
      if (this.#left === 0 && !this.#dead) this.#finish(length - end, []);
    } else if (at < length) this.onChunk(at === 0 ? bytes : bytes.subarray(at));
  }

  #switch(fields: string[], bytes: Buffer): void {
    const request = this.#request!;
    if (request.upgrade === null || upgradeNamedIn(fields) !== request.upgrade)
      throw new MalformedMessage('unexpected 101');
    const socket = this.#socket;
    this.#dead = true;
    this.#request = null;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd);
    socket.off('error', this.#onError).off('close', this.#onClose);
    socket.pause();
    this.#owner.onGone(this);
    request.onSwitch(fields, socket, bytes);
  }

  #readHead({ status, minor, fields }: ResponseHeadText): void {
    const request = this.#request!;
    if (status < 200) {
      if (++this.#interim > maxInterim) throw new MalformedMessage('too many interim responses');
      assertNoInterimBody(fields);
      this.since = performance.now();
      request.onInterim(status, fields);
      return;
    }
    const framing = framingOf(request.method, status, minor, fields);
    this.#headSeen = true;
    this.#framing = framing;
    this.#left = framing.length;
    this.#chunked = framing.kind === 'chunked' ? new ChunkedDecoder(maxHeadBytes) : null;
    if (framing.keepAliveMs !== null) this.keepAliveMs = framing.keepAliveMs;
    request.onHead(status, fields, framing.announced);
  }

  /** Receives a decoded piece of the response's body. */
  onChunk(chunk: Buffer): void {
    this.#request?.onData(chunk);
  }

  /** The response is complete, and was followed by `extraBytes` that belong to no response. */
  #finish(extraBytes: number, trailers: string[]): void {
    const request = this.#request!;
    this.#growing.clear();
    const reusable = extraBytes === 0 && this.#framing!.reusable && this.#sent;
    this.#request = null;
    this.responses++;
    if (!reusable) this.destroy();
    request.onEnd(trailers);
    if (reusable && !this.#dead) {
      this.since = performance.now();
      // A client that read slowly may have left it paused.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#owner.onFree(this);
    }
  }

  readonly #onEnd = (): void => {
    if (this.#dead) return;
    if (this.#request !== null && this.#headSeen && this.#framing!.kind === 'close') this.#finish(0, []);
    else this.#fail(new UpstreamError('reset'));
  };

  readonly #onError = (error?: Error): void => {
    this.#fail(new UpstreamError(this.#connected ? 'reset' : 'refused', error));
  };

  readonly #onClose = (): void => this.#onError();

  #fail(error: UpstreamError): void {
    if (this.#dead) return;
    const request = this.#request;
    this.destroy();
    // It had carried a response before, and was closed before the first byte of this one.
    error.diedIdle = this.responses > 0 && !this.#gotBytes && error.kind === 'reset';
    request?.onError(error);
  }

  isStale(now: number): boolean {
    return now - this.since > this.keepAliveMs;
  }

  checkTime(now: number): void {
    const request = this.#request;
    if (request === null) {
      if (this.isStale(now)) this.destroy();
      return;
    }
    const waited = now - this.since;
    if (!this.#connected) {
      if (waited > request.connectTimeoutMs) this.#fail(new UpstreamError('connect_timeout'));
    } else if (!this.#headSeen) {
      // The upstream's time doesn't count while the body is still being sent, unless the upstream stops reading it.
      const isWaiting = this.#sent || this.#socket.writableNeedDrain;
      if (isWaiting && waited > request.responseTimeoutMs) this.#fail(new UpstreamError('response_timeout'));
    } else if (!this.#socket.isPaused() && waited > request.idleTimeoutMs)
      this.#fail(new UpstreamError('idle_timeout'));
  }
}
