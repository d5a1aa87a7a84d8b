import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Refusal } from '../../errors.ts';
import { shownSubject } from '../message/distinguished-name.ts';
import type { RequestFraming } from '../message/request-framing.ts';
import { BodyPace } from './body-pace.ts';
import { ConnectionClock, phase } from './connection-clock.ts';
import type { ConnectionOptions, RequestChannel, ServerExchange } from './connection-options.ts';
import type { BodyReader, IncomingBody } from './incoming-body.ts';
import { canonicalAddress } from './peer-address.ts';

const nothing = Buffer.alloc(0);

/** Base of client connections, independent of the HTTP parser: runs one exchange at a time and enforces its timeouts. */
export abstract class ServedConnection<Exchange extends ServerExchange> implements RequestChannel {
  readonly socket: Socket;
  readonly peer: string;
  readonly clientCertificate: string | null;
  protected readonly options: ConnectionOptions<Exchange>;
  protected readonly clock: ConnectionClock;
  protected exchange: Exchange | null = null;
  #requests = 0;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    this.socket = socket;
    this.peer = canonicalAddress(socket.remoteAddress ?? '');
    this.clientCertificate = options.encrypted ? shownSubject(socket as TLSSocket) : null;
    this.options = options;
    this.clock = new ConnectionClock(this, options);
    socket.on('drain', this.onDrain);
    socket.on('close', this.#onClose);
    socket.on('error', ignore);
  }

  protected abstract get body(): IncomingBody;
  abstract detach(): { socket: Socket; bytes: Buffer };
  /** Goes on to the next request, part of which may have arrived already. */
  protected abstract next(): void;
  protected abstract discardBody(): void;
  /** Ends our side of the connection, then briefly waits for the client to end its own. */
  protected abstract end(): void;

  /** The beginning of an incomplete head, as far as it is known. */
  protected get begunHead(): Buffer {
    return nothing;
  }

  /** The stream whose pausing makes the client wait. */
  protected get input(): Readable {
    return this.socket;
  }

  isPaused(): boolean {
    return this.input.isPaused();
  }

  protected resumeInput(): void {
    this.input.resume();
  }

  /** Sends output that is being held until the event loop's turn ends. */
  protected flush(): void {}

  protected clear(): void {}

  get writableLength(): number {
    return this.socket.writableLength;
  }

  get encrypted(): boolean {
    return this.options.encrypted;
  }

  // Called by the reader of requests.

  /** Counts a request; returns true if the connection closes after its response. */
  protected isLast(framing: RequestFraming): boolean {
    const { requestsPerConnection, isClosing } = this.options;
    this.#requests++;
    return (
      isClosing() || framing.closes || (requestsPerConnection > 0 && this.#requests >= requestsPerConnection)
    );
  }

  protected begin(exchange: Exchange): void {
    this.exchange = exchange;
    this.clock.enter(phase.exchange);
    this.options.onRequest(exchange);
  }

  onUnreadable(refusal: Refusal, received: Buffer): void {
    this.flush();
    this.socket.write(this.options.onUnreadable(refusal, this.peer, received), 'latin1');
    this.end();
  }

  onBodyBroken(refusal: Refusal): void {
    const { body } = this;
    const { reader } = body;
    body.reader = null;
    this.exchange?.closeAfterResponse();
    this.clock.enter(phase.ending);
    if (reader !== null) reader.onBodyError(refusal);
    else if (this.exchange === null) this.end();
  }

  // Called by the exchange.

  get bodyDone(): boolean {
    return this.body.done;
  }

  read(reader: BodyReader): void {
    const { body } = this;
    if (body.done) {
      reader.onBodyEnd();
      return;
    }
    body.reader = reader;
    body.pace = new BodyPace(reader, this.options.bodyJudgedAfterMs, performance.now());
    this.resume();
  }

  pause(): void {
    this.body.pace?.pause(performance.now());
    this.input.pause();
  }

  resume(): void {
    const now = this.clock.noteProgress();
    this.body.pace?.resume(now);
    this.resumeInput();
  }

  release(reader: BodyReader): void {
    const { body } = this;
    if (body.reader === reader) body.reader = null;
  }

  waitForDrain(): void {
    this.clock.waitForDrain();
  }

  finished(exchange: ServerExchange): void {
    const current = this.exchange;
    if (current === null || current !== exchange) return;
    this.exchange = null;
    this.clock.wantsDrain = false;
    this.options.onClosed(current);
    if (exchange.response.cutShort) this.socket.destroy();
    else if (exchange.response.closes || this.clock.phase === phase.ending) this.end();
    else if (this.bodyDone) this.next();
    // The response was sent before the whole body had arrived: the rest is read and discarded.
    else this.discardBody();
  }

  // Called by the socket.

  /** Stops handling the socket, so that another protocol can use it; only its `close` event is still handled. */
  protected letGo(): void {
    this.socket.off('drain', this.onDrain).off('error', ignore);
    this.socket.pause();
  }

  protected readonly onDrain = (): void => {
    if (!this.clock.wantsDrain) return;
    this.clock.wantsDrain = false;
    this.clock.noteProgress();
    if (this.exchange === null) this.resumeLater();
    else this.exchange.onDrain?.();
  };

  protected readonly resumeLater = (): void => {
    if (!this.socket.destroyed && this.exchange === null) this.resume();
  };

  protected readonly onEnd = (): void => {
    // A client that half-closes before its response has given up waiting for it.
    if (this.exchange !== null && !this.exchange.response.ended) this.reset();
    else {
      this.flush();
      this.socket.end();
    }
  };

  readonly #onClose = (): void => {
    const { exchange } = this;
    this.exchange = null;
    this.clear();
    if (exchange === null) return;
    exchange.onConnectionLost();
    this.options.onClosed(exchange);
  };

  // Called by the server.

  /** Closes the connection if a timeout has expired, after refusing a late head or body; `now` is by `performance.now()`. */
  checkTime(now: number): void {
    const { reader, pace } = this.body;
    const isSlow = reader !== null && pace?.isTooSlow(now) === true;
    switch (isSlow ? 'body' : this.clock.timeoutAt(now, reader !== null)) {
      case 'request':
        // Closed without a response: the client hasn't sent a request.
        this.socket.destroy();
        break;
      case 'head':
        this.onUnreadable(new Refusal('request_timeout'), this.begunHead);
        break;
      case 'body':
        this.onBodyBroken(new Refusal('request_timeout', { close: true }));
        break;
      case 'reading':
        this.exchange?.reset('client_too_slow');
        break;
      case 'reading-end':
        this.reset();
        break;
      case 'unwanted-body':
        this.end();
        break;
      case 'close':
        this.socket.destroy();
        break;
    }
  }

  /** Adds `Connection: close` to the current response unless that has begun. */
  announceClose(): void {
    if (this.exchange?.response.begun === false) this.exchange.closeAfterResponse();
  }

  closeIdle(): void {
    if (this.clock.phase === phase.idle) this.end();
  }

  /** Closes the connection, whose client may no longer be admitted, after the response in progress or, without one, at once. */
  retire(): void {
    if (this.exchange !== null) this.exchange.closeAfterResponse();
    else if (this.clock.phase !== phase.ending) this.end();
  }

  /** Cuts the connection because the gateway is shutting down. */
  cut(): void {
    const { exchange } = this;
    if (exchange === null || exchange.outcome !== 'ok' || exchange.response.ended) this.reset();
    else exchange.reset('shutdown');
  }

  reset(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    // Everything has been sent; libuv can't reset a socket that is shutting down, and Node would leave it open.
    const isEnding = socket.writableEnded && socket.writableLength === 0;
    // TLS has no reset; closing without close_notify means the same.
    if (this.encrypted || isEnding) socket.destroy();
    else socket.resetAndDestroy();
  }
}

function ignore(): void {}
