import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { BodyPace } from './body-pace.ts';
import { ConnectionClock, phase } from './connection-clock.ts';
import type {
  ClientConnection,
  ConnectionOptions,
  RequestChannel,
  ServerExchange,
} from './connection-options.ts';
import { cutSocket } from './cut-socket.ts';
import type { BodyReader } from './incoming-body.ts';
import type { RequestHeadText } from './message-head.ts';
import { canonicalAddress } from './peer-address.ts';
import type { RequestFraming } from './request-framing.ts';
import { type RequestEvents, RequestReader } from './request-reader.ts';
import { SocketResponseWriter } from './response-writer.ts';

/** One client connection: hands out its requests one at a time, and closes when it must. */
export class ServerConnection<Exchange extends ServerExchange>
  implements RequestEvents, RequestChannel, ClientConnection
{
  readonly socket: Socket;
  /** Canonical address of the peer. */
  readonly peer: string;
  readonly #options: ConnectionOptions<Exchange>;
  readonly #clock: ConnectionClock;
  readonly #reader: RequestReader;
  #exchange: Exchange | null = null;
  #requests = 0;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    this.socket = socket;
    this.peer = canonicalAddress(socket.remoteAddress ?? '');
    this.#options = options;
    this.#clock = new ConnectionClock(socket, options);
    this.#reader = new RequestReader(socket, this.#clock, options, this);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('drain', this.#onDrain);
    socket.on('close', this.#onClose);
    socket.on('error', ignore);
  }

  get encrypted(): boolean {
    return this.#options.encrypted;
  }

  // From the reader.

  onRequest(head: RequestHeadText, framing: RequestFraming): void {
    const { requestsPerConnection, keepAliveFields } = this.#options;
    this.#requests++;
    const closes =
      this.#options.isClosing() ||
      framing.closes ||
      (requestsPerConnection > 0 && this.#requests >= requestsPerConnection);
    const response = new SocketResponseWriter(
      this.socket,
      head.minor,
      head.method === 'HEAD',
      closes,
      keepAliveFields,
    );
    const exchange = this.#options.createExchange(this, response, head, framing);
    this.#exchange = exchange;
    this.#clock.enter(phase.exchange);
    this.#options.onRequest(exchange);
  }

  onUnreadable(refusal: Refusal): void {
    this.socket.write(this.#options.onUnreadable(refusal, this.peer), 'latin1');
    this.#end();
  }

  onBodyBroken(refusal: Refusal): void {
    const { body } = this.#reader;
    const { reader } = body;
    body.reader = null;
    this.#exchange?.closeAfterResponse();
    this.#clock.enter(phase.ending);
    if (reader !== null) reader.onBodyError(refusal);
    else if (this.#exchange === null) this.#end();
  }

  onDiscarded(): void {
    this.#next();
  }

  onTooMuchDiscarded(): void {
    if (this.#clock.phase === phase.ending) this.reset();
    else this.#end();
  }

  // From the exchange.

  get bodyDone(): boolean {
    return this.#reader.body.done;
  }

  /** Starts to read the body; what has already arrived is passed on at once. */
  read(reader: BodyReader): void {
    const { body } = this.#reader;
    if (body.done) {
      reader.onBodyEnd();
      return;
    }
    body.reader = reader;
    body.pace = new BodyPace(reader, this.#options.bodyJudgedAfterMs, performance.now());
    this.resume();
  }

  /** Stops reading, which makes the client wait. */
  pause(): void {
    this.#reader.body.pace?.pause(performance.now());
    this.socket.pause();
  }

  /** Continues to read. */
  resume(): void {
    const now = this.#clock.noteProgress();
    this.#reader.body.pace?.resume(now);
    this.#reader.readKept();
    if (this.socket.isPaused()) this.socket.resume();
  }

  /** Detaches the reader; the rest of the body is discarded. */
  release(reader: BodyReader): void {
    const { body } = this.#reader;
    if (body.reader === reader) body.reader = null;
  }

  /** Called by the exchange when the client doesn't keep up. */
  waitForDrain(): void {
    this.#clock.waitForDrain();
  }

  /** Called by the exchange when its response has been written completely. */
  finished(exchange: ServerExchange): void {
    const current = this.#exchange;
    if (current === null || current !== exchange) return;
    this.#exchange = null;
    this.#clock.wantsDrain = false;
    this.#options.onClosed(current);
    if (exchange.response.cutShort) this.socket.destroy();
    else if (exchange.response.closes || this.#options.isClosing() || this.#clock.phase === phase.ending)
      this.#end();
    else if (this.bodyDone) this.#next();
    else {
      // The response was sent before the whole body had arrived: the rest is read and discarded.
      this.#reader.discardBody();
      this.resume();
    }
  }

  /** Hands the socket over to another protocol, with the bytes read beyond the head. */
  detach(): { socket: Socket; bytes: Buffer } {
    const bytes = this.#reader.detach();
    const { socket } = this;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('drain', this.#onDrain).off('error', ignore);
    socket.pause();
    return { socket, bytes };
  }

  // From the socket.

  readonly #onData = (chunk: Buffer): void => {
    this.#clock.noteBytes();
    this.#reader.push(chunk);
  };

  readonly #onDrain = (): void => {
    if (!this.#clock.wantsDrain) return;
    this.#clock.wantsDrain = false;
    this.#clock.noteProgress();
    if (this.#exchange === null) this.#resumeLater();
    else this.#exchange.onDrain?.();
  };

  readonly #onEnd = (): void => {
    // A client that half-closes before its response has given up on it.
    if (this.#exchange !== null && !this.#exchange.response.ended) this.reset();
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#reader.clear();
    if (exchange === null) return;
    exchange.onConnectionLost();
    this.#options.onClosed(exchange);
  };

  // From one request to the next, and closing.

  /** Turns to the next request, part of which may have arrived already. */
  #next(): void {
    this.#clock.enter(phase.idle);
    this.#reader.forgetBody();
    if (this.#reader.hasKept) process.nextTick(this.#resumeLater);
    else if (this.socket.isPaused()) this.socket.resume();
  }

  readonly #resumeLater = (): void => {
    if (!this.socket.destroyed && this.#exchange === null) this.resume();
  };

  checkTime(now: number): void {
    const { reader, pace } = this.#reader.body;
    const isSlow = reader !== null && pace?.isTooSlow(now) === true;
    switch (isSlow ? 'body' : this.#clock.timeoutAt(now, reader !== null)) {
      case 'request':
        // Closed without a response: the client hasn't sent a request.
        this.socket.destroy();
        break;
      case 'head':
        this.onUnreadable(new Refusal('request_timeout'));
        break;
      case 'body':
        this.onBodyBroken(new Refusal('request_timeout', { close: true }));
        break;
      case 'reading':
        this.#exchange?.reset('client_too_slow');
        break;
      case 'reading-end':
        this.reset();
        break;
      case 'unwanted-body':
        this.#end();
        break;
      case 'close':
        this.socket.destroy();
        break;
    }
  }

  closeWhenIdle(): void {
    if (this.#exchange === null && this.#clock.phase !== phase.ending) this.#end();
  }

  /**
   * Ends our side, then waits a little for the client's: if the socket were closed with unread bytes, the kernel would
   * reset the connection, and the client could lose the response (RFC 9112 §9.6).
   */
  #end(): void {
    this.#reader.discardAll();
    this.socket.end(() => this.#clock.noteProgress());
    if (this.socket.isPaused()) this.socket.resume();
  }

  cut(): void {
    const exchange = this.#exchange;
    if (exchange === null || exchange.outcome !== 'ok' || exchange.response.ended) this.reset();
    else exchange.reset('shutdown');
  }

  /** Cuts the connection and unsent data, so that the client can't take a truncated response for a complete one. */
  reset(): void {
    cutSocket(this.socket, this.encrypted);
  }
}

function ignore(): void {}
