import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { headEnd, looksWrong, MalformedMessage, parseRequestHead } from '../wire/message-head.ts';
import { AnswerWriter } from './answer-writer.ts';
import { canonicalAddress, type TrustedProxies } from './client-address.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { Exchange } from './exchange.ts';
import { type BodyReader, IncomingBody } from './incoming-body.ts';
import { RequestHead } from './request-head.ts';

/** Where a connection stands; each has its own time-out. */
const phase = { idle: 0, head: 1, exchange: 2, discarding: 3, ending: 4 } as const;
type Phase = (typeof phase)[keyof typeof phase];

/** The body of every request that has none. */
const noBody = new IncomingBody(new RequestHead([]), 0);

const methods: ReadonlySet<string> = new Set(METHODS);
const cr = 0x0d;
const lf = 0x0a;

/** What a refused or early answered client may go on sending before its connection is cut: milliseconds, bytes. */
const lingerMs = 1_000;
const lingerBytes = 1024 * 1024;
/** As much of a next request as is kept while one is answered. */
const pipelinedBytes = 64 * 1024;

/** One client connection: cuts its bytes into requests, one at a time, and gives each its turn to be answered. */
export class ClientConnection {
  readonly socket: Socket;
  /** Canonical address of the peer. */
  readonly peer: string;
  /** Whether the peer's `X-Forwarded-*` count. */
  readonly fromTrustedProxy: boolean;
  readonly #options: ConnectionOptions;
  #phase: Phase = phase.idle;
  /** When the phase began or something last moved in it, as by `performance.now()`. */
  #since = performance.now();
  #kept: Buffer | null = null;
  #exchange: Exchange | null = null;
  #requests = 0;
  #body: IncomingBody = noBody;
  #discarded = 0;
  #wantsDrain = false;
  #detached = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.peer = canonicalAddress(socket.remoteAddress ?? '');
    this.fromTrustedProxy = options.proxies.isTrusted(this.peer);
    this.#options = options;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('drain', this.#onDrain);
    socket.on('close', this.#onClose);
    socket.on('error', ignore);
  }

  get encrypted(): boolean {
    return this.#options.encrypted;
  }

  get proxies(): TrustedProxies {
    return this.#options.proxies;
  }

  readonly #onData = (chunk: Buffer): void => {
    // One that does not read gains no time by sending.
    if (this.#phase < phase.discarding && !this.#wantsDrain) this.#since = performance.now();
    if (this.#kept === null) this.#consume(chunk);
    else {
      const bytes = Buffer.concat([this.#kept, chunk]);
      this.#kept = null;
      this.#consume(bytes);
    }
  };

  /** Takes from the bytes what there is a use for now, and keeps the rest. */
  #consume(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      const before = at;
      const wasIn = this.#exchange;
      if (this.#phase === phase.ending) {
        this.#throwAway(bytes.length - at);
        return;
      }
      if (this.#exchange === null && this.#phase !== phase.discarding) {
        if (this.socket.writableNeedDrain) {
          // Who does not read answers gets no more of them: what it asks meanwhile waits, and so does the client.
          this.waitForDrain();
          this.#kept = bytes.subarray(at);
          this.socket.pause();
          return;
        }
        at = this.#readHead(bytes, at);
      } else if (!this.#body.done && (this.#body.reader !== null || this.#phase === phase.discarding))
        at = this.#readBody(bytes, at);
      if (this.#detached) {
        this.#kept = at < bytes.length ? bytes.subarray(at) : null;
        return;
      }
      if (at === before && this.#exchange === wasIn) {
        this.#keep(bytes, at);
        return;
      }
    }
  }

  #keep(bytes: Buffer, from: number): void {
    this.#kept = from === 0 ? bytes : bytes.subarray(from);
    // Nobody reads on: the client shall wait, and not fill our memory.
    if (this.#exchange !== null && (!this.#body.done || this.#kept.length > pipelinedBytes))
      this.socket.pause();
  }

  #throwAway(count: number): void {
    this.#discarded += count;
    if (this.#discarded > lingerBytes) this.reset();
  }

  /** Gives the index after the head, or `start` when it is not all there yet. */
  #readHead(bytes: Buffer, start: number): number {
    let from = start;
    // An empty line before a request is a client's slip of old (RFC 9112 §2.2).
    if (bytes[from] === cr && bytes.length - from >= 2 && bytes[from + 1] === lf) from += 2;
    if (from === bytes.length) return start;
    const end = bytes.indexOf(headEnd, from);
    const length = (end < 0 ? bytes.length : end) - from;
    if (length > this.#options.headerBytes) {
      this.#refuse(new Refusal('headers_too_large'));
      return bytes.length;
    }
    if (end < 0) {
      if (this.#phase !== phase.head) this.#enter(phase.head);
      if (looksWrong(bytes, from)) {
        this.#refuse(new Refusal('bad_request'));
        return bytes.length;
      }
      return start;
    }
    try {
      this.#start(bytes.toString('latin1', from, end));
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      this.#refuse(new Refusal(error.code, { cause: error.message }));
      return bytes.length;
    }
    return end + 4;
  }

  #start(text: string): void {
    const { method, target, minor, fields } = parseRequestHead(text, methods);
    const head = new RequestHead(fields);
    this.#requests++;
    const { requestsPerConnection } = this.#options;
    const closes =
      this.#options.isClosing() ||
      head.closes ||
      (minor === 0 && !head.keepsAlive) ||
      (requestsPerConnection > 0 && this.#requests >= requestsPerConnection);
    const answer = new AnswerWriter(
      this.socket,
      minor,
      method === 'HEAD',
      closes,
      this.#options.keepAliveText,
    );
    const exchange = new Exchange(this, answer, head, method, target, minor);
    this.#exchange = exchange;
    this.#enter(phase.exchange);
    this.#body = head.hasBody ? new IncomingBody(head, this.#options.headerBytes) : noBody;
    this.#options.onRequest(exchange);
  }

  #readBody(bytes: Buffer, start: number): number {
    const body = this.#body;
    let end: number;
    try {
      end = body.feed(bytes, start);
    } catch (error) {
      this.#breakBody(error as Refusal);
      return bytes.length;
    }
    if (this.#phase === phase.discarding) {
      this.#discarded += end - start;
      if (body.done) this.#next();
      else if (this.#discarded > lingerBytes) this.#end();
    } else if (body.done) {
      const { reader } = body;
      body.reader = null;
      reader?.onBodyEnd();
    }
    return end;
  }

  #breakBody(error: Refusal): void {
    const { reader } = this.#body;
    this.#body.reader = null;
    // Whatever follows can't be told apart from the body: nothing more is read as a request.
    this.#exchange?.distrust();
    this.#phase = phase.ending;
    if (reader !== null) reader.onBodyError(error);
    else if (this.#exchange === null) this.#end();
  }

  /** Starts to read the body of the exchange; what has come already is given at once. */
  read(reader: BodyReader): void {
    if (this.#body.done) {
      reader.onBodyEnd();
      return;
    }
    this.#body.reader = reader;
    this.#since = performance.now();
    this.resume();
  }

  /** Lets the client wait before it sends more of the body. */
  pause(): void {
    this.socket.pause();
  }

  /** Reads on. */
  resume(): void {
    this.#since = performance.now();
    if (this.#kept !== null) {
      const bytes = this.#kept;
      this.#kept = null;
      this.#consume(bytes);
    }
    if (this.socket.isPaused()) this.socket.resume();
  }

  /** The reader wants no more; the rest of the body is nobody's. */
  release(reader: BodyReader): void {
    if (this.#body.reader === reader) this.#body.reader = null;
  }

  get bodyDone(): boolean {
    return this.#body.done;
  }

  /** Told by the exchange that a write did not go through at once. */
  waitForDrain(): void {
    this.#wantsDrain = true;
    this.#since = performance.now();
  }

  readonly #onDrain = (): void => {
    if (!this.#wantsDrain) return;
    this.#wantsDrain = false;
    this.#since = performance.now();
    if (this.#exchange === null) this.#resumeLater();
    else this.#exchange.onDrain?.();
  };

  /** Told by the exchange that its answer has been written whole. */
  finished(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = null;
    this.#wantsDrain = false;
    this.#options.onClosed(exchange);
    if (exchange.answer.cutShort) this.socket.destroy();
    else if (exchange.answer.closes || this.#options.isClosing() || this.#phase === phase.ending) this.#end();
    else if (this.#body.done) this.#next();
    else {
      // It was answered before its body had come: what is still on its way is read and thrown away.
      this.#discarded = 0;
      this.#enter(phase.discarding);
      this.resume();
    }
  }

  /** Turns to the next request, part of which may be here already. */
  #next(): void {
    this.#enter(phase.idle);
    if (this.#kept !== null) process.nextTick(this.#resumeLater);
    else if (this.socket.isPaused()) this.socket.resume();
  }

  readonly #resumeLater = (): void => {
    if (!this.socket.destroyed && this.#exchange === null) this.resume();
  };

  #refuse(refusal: Refusal): void {
    this.socket.write(this.#options.onUnreadable(refusal, this.peer), 'latin1');
    this.#end();
  }

  /**
   * Ends our side, then waits a little for the client's: closing with unread bytes would make the kernel reset the
   * connection and the client lose the answer (RFC 9112 §9.6).
   */
  #end(): void {
    this.#enter(phase.ending);
    this.#kept = null;
    this.#discarded = 0;
    this.socket.end(() => {
      this.#since = performance.now();
    });
    if (this.socket.isPaused()) this.socket.resume();
  }

  readonly #onEnd = (): void => {
    // A client that says no more is gone: what it asked for is worth nothing to it.
    if (this.#exchange !== null && !this.#exchange.answer.ended) this.reset();
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#body = noBody;
    this.#kept = null;
    if (exchange === null) return;
    exchange.gone();
    this.#options.onClosed(exchange);
  };

  /** Cuts the connection, and what is still on its way to the client: it can't take that for whole. */
  reset(): void {
    const { socket, encrypted } = this;
    if (socket.destroyed) return;
    // Nothing is left to cut then; and libuv resets no socket whose end is on its way, so that Node would lose it open.
    const isEnding = socket.writableEnded && socket.writableLength === 0;
    // TLS has no reset of its own: a close without its close_notify says the same.
    if (encrypted || isEnding) socket.destroy();
    else socket.resetAndDestroy();
  }

  /** Closes the connection if it has been too long where it stands; `now` as by `performance.now()`. */
  checkTime(now: number): void {
    const waited = now - this.#since;
    const { headerTimeoutMs, keepAliveTimeoutMs, bodyIdleTimeoutMs, writeIdleTimeoutMs } = this.#options;
    const isBusy = this.#phase === phase.exchange || this.#phase === phase.head;
    if (!isBusy && this.socket.writableLength > 0) {
      // The end of an answer is still on its way to a client that is slow, and neither idle nor done.
      if (waited > writeIdleTimeoutMs) this.reset();
      return;
    }
    switch (this.#phase) {
      case phase.idle:
        // One that never sent a byte is closed without a word: nobody waits for an answer there.
        if (waited > (this.#requests === 0 ? headerTimeoutMs : keepAliveTimeoutMs)) this.socket.destroy();
        break;
      case phase.head:
        if (now - this.#headSince > headerTimeoutMs) this.#refuse(new Refusal('request_timeout'));
        break;
      case phase.exchange:
        if (this.#wantsDrain) {
          if (waited > writeIdleTimeoutMs) this.#exchange?.reset('client_too_slow');
        } else if (this.#body.reader !== null && !this.socket.isPaused() && waited > bodyIdleTimeoutMs)
          this.#breakBody(new Refusal('request_timeout', { close: true }));
        break;
      case phase.discarding:
        if (waited > lingerMs) this.#end();
        break;
      default:
        if (waited > lingerMs) this.socket.destroy();
    }
  }

  #headSince = 0;

  #enter(next: Phase): void {
    this.#phase = next;
    this.#since = performance.now();
    if (next === phase.head) this.#headSince = this.#since;
  }

  /** No more requests: an idle connection closes now, a busy one with its answer. */
  closeWhenIdle(): void {
    if (this.#exchange === null && this.#phase !== phase.ending) this.#end();
  }

  /** Gives the socket away, with what has been read beyond the head, for another protocol. */
  detach(): { socket: Socket; bytes: Buffer } {
    this.#detached = true;
    const bytes = this.#kept ?? Buffer.alloc(0);
    this.#kept = null;
    const { socket } = this;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain).off('error', ignore);
    socket.pause();
    return { socket, bytes };
  }
}

function ignore(): void {}
