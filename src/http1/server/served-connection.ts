import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Refusal } from '../../errors.ts';
import { shownSubject } from '../message/distinguished-name.ts';
import type { RequestFraming } from '../message/request-framing.ts';
import { BodyPace } from './body-pace.ts';
import { ConnectionClock, phase } from './connection-clock.ts';
import type {
  ClientConnection,
  ConnectionOptions,
  RequestChannel,
  ServerExchange,
} from './connection-options.ts';
import { cutSocket } from './cut-socket.ts';
import type { BodyReader, IncomingBody } from './incoming-body.ts';
import { canonicalAddress } from './peer-address.ts';

const nothing = Buffer.alloc(0);

/** What all client connections do, whatever reads their requests: one exchange at a time, its timeouts and its end. */
export abstract class ServedConnection<Exchange extends ServerExchange>
  implements RequestChannel, ClientConnection
{
  readonly socket: Socket;
  /** Canonical address of the peer. */
  readonly peer: string;
  /** The subject of the client's verified certificate; null if it has shown none. */
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

  /** The body of the current request. */
  protected abstract get body(): IncomingBody;
  abstract detach(): { socket: Socket; bytes: Buffer };
  /** Turns to the next request, part of which may have arrived already. */
  protected abstract next(): void;
  /** Reads the rest of the body, which no exchange wants. */
  protected abstract discardBody(): void;
  /** Ends our side, then waits a little for the client's. */
  protected abstract end(): void;

  /** The beginning of a head that is not complete yet, as far as it is known. */
  protected get begunHead(): Buffer {
    return nothing;
  }

  /** What the client is made to wait by. */
  protected get input(): Readable {
    return this.socket;
  }

  isPaused(): boolean {
    return this.input.isPaused();
  }

  protected resumeInput(): void {
    this.input.resume();
  }

  /** Sends what waits to be sent together with other responses. */
  protected flush(): void {}

  /** Releases whatever has been read; the connection has closed. */
  protected clear(): void {}

  /** Bytes that have not been sent yet. */
  get writableLength(): number {
    return this.socket.writableLength;
  }

  get encrypted(): boolean {
    return this.options.encrypted;
  }

  // From whatever reads the requests.

  /** Counts a request; whether the connection closes after its response. */
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

  /** `received`: the beginning of the head, as far as it is known. */
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

  // From the exchange.

  get bodyDone(): boolean {
    return this.body.done;
  }

  /** Starts to read the body; what has already arrived is passed on at once. */
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

  /** Stops reading, which makes the client wait. */
  pause(): void {
    this.body.pace?.pause(performance.now());
    this.input.pause();
  }

  /** Continues to read. */
  resume(): void {
    const now = this.clock.noteProgress();
    this.body.pace?.resume(now);
    this.resumeInput();
  }

  /** Detaches the reader; the rest of the body is discarded. */
  release(reader: BodyReader): void {
    const { body } = this;
    if (body.reader === reader) body.reader = null;
  }

  /** Called by the exchange when the client doesn't keep up. */
  waitForDrain(): void {
    this.clock.waitForDrain();
  }

  /** Called by the exchange when its response has been written completely. */
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

  // From the socket.

  /** Leaves the socket to another protocol; its close is still noted. */
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
    // A client that half-closes before its response has given up on it.
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

  // From the server.

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

  announceClose(): void {
    if (this.exchange?.response.begun === false) this.exchange.closeAfterResponse();
  }

  closeIdle(): void {
    if (this.clock.phase === phase.idle) this.end();
  }

  retire(): void {
    if (this.exchange !== null) this.exchange.closeAfterResponse();
    else if (this.clock.phase !== phase.ending) this.end();
  }

  cut(): void {
    const { exchange } = this;
    if (exchange === null || exchange.outcome !== 'ok' || exchange.response.ended) this.reset();
    else exchange.reset('shutdown');
  }

  /** Cuts the connection and unsent data, so that the client can't take a truncated response for a complete one. */
  reset(): void {
    cutSocket(this.socket, this.encrypted);
  }
}

function ignore(): void {}
