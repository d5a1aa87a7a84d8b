import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { BodyPace } from '../http1/body-pace.ts';
import { ConnectionClock, phase } from '../http1/connection-clock.ts';
import type {
  ClientConnection,
  ConnectionOptions,
  RequestChannel,
  ServerExchange,
} from '../http1/connection-options.ts';
import { cutSocket } from '../http1/cut-socket.ts';
import type { BodyReader } from '../http1/incoming-body.ts';
import { canonicalAddress } from '../http1/peer-address.ts';
import { hasBody, type RequestFraming, requestFraming } from '../http1/request-framing.ts';
import { isHeadTooLong, refusalOf } from './parser-limits.ts';
import { NodeResponse } from './response.ts';

/** A request as `node:http` hands it over. */
interface Arrival {
  readonly request: IncomingMessage;
  /** Null for one that asks for another protocol: Node reads nothing after it. */
  readonly response: ServerResponse | null;
  /** What came after the head of such a request. */
  readonly early: Buffer;
}

/** Requests that may wait for their turn before the client has to. */
const maxWaiting = 16;
/** Bytes beyond the head that are kept for another protocol before the client has to wait. */
const maxEarlyBytes = 64 * 1024;

/** One client connection that `node:http` reads: its requests get their turn one at a time, as in the built-in engine. */
export class NodeConnection<Exchange extends ServerExchange> implements RequestChannel, ClientConnection {
  readonly socket: Socket;
  readonly peer: string;
  readonly #options: ConnectionOptions<Exchange>;
  readonly #clock: ConnectionClock;
  readonly #waiting: Arrival[] = [];
  /** What follows on the connection is no request, or no body; said once all before it have had their response. */
  #refusal: Refusal | null = null;
  #current: Arrival | null = null;
  #exchange: Exchange | null = null;
  #requests = 0;
  bodyDone = true;
  /** Bytes of the body still to come; infinite when chunked. */
  #left = 0;
  #reader: BodyReader | null = null;
  #pace: BodyPace | null = null;
  #isPaused = false;
  #early: Buffer[] = [];
  #earlyBytes = 0;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    this.socket = socket;
    this.peer = canonicalAddress(socket.remoteAddress ?? '');
    this.#options = options;
    const isPaused = () => this.#isPaused;
    this.#clock = new ConnectionClock(
      {
        isPaused,
        get writableLength() {
          return socket.writableLength;
        },
      },
      options,
    );
    socket.on('close', this.#onClose);
    socket.on('error', ignore);
    // The response itself says nothing of it once Node has let go of the connection for a later request.
    socket.on('drain', this.#onDrain);
    // Before Node takes the end for its own, and ends our side without a reset.
    socket.prependListener('end', this.#onEnd);
    // Node would close with unread bytes, and the client could lose the response (RFC 9112 §9.6).
    socket.destroySoon = () => this.#linger();
  }

  get encrypted(): boolean {
    return this.#options.encrypted;
  }

  // What Node reads.

  /** A request came; it has its turn when those before it have had theirs. */
  receive(request: IncomingMessage, response: ServerResponse | null, early: Buffer): void {
    request.on('error', ignore);
    if (this.#clock.phase === phase.ending) return;
    const arrival = { request, response, early };
    if (this.#current === null) this.#begin(arrival);
    else if (this.#waiting.push(arrival) > maxWaiting) this.socket.pause();
  }

  /** What came is no request, or the end of a body, or did not come in time. */
  receiveError(error: Error): void {
    const refusal = refusalOf(error);
    if (refusal === null || (this.socket.bytesRead === 0 && this.#current === null)) this.socket.destroy();
    else if (this.#clock.phase === phase.ending) return;
    else if (this.#current === null) this.#refuse(refusal);
    else if (this.#waiting.length === 0 && !this.#current.request.complete) this.#breakBody(refusal);
    else this.#refusal ??= refusal;
  }

  #begin(arrival: Arrival): void {
    const { request } = arrival;
    const { method = '', url: target = '', httpVersionMinor: minor, rawHeaders: fields } = request;
    const framing = requestFraming(minor, fields);
    this.#current = arrival;
    const problem = this.#problemOf(arrival, framing);
    if (problem !== null) {
      this.#refuse(problem);
      return;
    }
    const response = arrival.response ?? this.#takeOver(arrival);
    response.on('finish', () => this.#onSent(arrival, response));
    const writer = new NodeResponse(response, this.socket, minor, this.#isLast(arrival, framing));
    this.bodyDone = !hasBody(framing);
    this.#left = framing.isChunked ? Number.POSITIVE_INFINITY : framing.length;
    if (!this.bodyDone) request.on('end', this.#onBodyEnd);
    const exchange = this.#options.createExchange(this, writer, { method, target, minor, fields }, framing);
    this.#exchange = exchange;
    this.#clock.enter(phase.exchange);
    this.#options.onRequest(exchange);
  }

  /** What Node lets through and the built-in engine doesn't. */
  #problemOf({ request, response }: Arrival, framing: RequestFraming): Refusal | null {
    if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1)
      return new Refusal('version_not_supported');
    if (isHeadTooLong(request, this.#options)) return new Refusal('headers_too_large');
    return response === null && hasBody(framing) ? new Refusal('bad_request') : null;
  }

  /** Whether the connection ends with the response. */
  #isLast({ response }: Arrival, framing: RequestFraming): boolean {
    const { requestsPerConnection, isClosing } = this.#options;
    this.#requests++;
    const isLast = requestsPerConnection > 0 && this.#requests >= requestsPerConnection;
    return isLast || isClosing() || framing.closes || response === null;
  }

  /** Node lets go of a connection on which another protocol is asked for: what follows is read here, and kept. */
  #takeOver({ request, early }: Arrival): ServerResponse {
    const response = new ServerResponse(request);
    response.assignSocket(this.socket);
    this.#keepEarly(early);
    this.socket.on('data', this.#keepEarly);
    return response;
  }

  readonly #keepEarly = (bytes: Buffer): void => {
    if (this.#clock.phase === phase.ending) return;
    this.#early.push(bytes);
    this.#earlyBytes += bytes.length;
    if (this.#earlyBytes > maxEarlyBytes) this.socket.pause();
  };

  readonly #onBodyChunk = (chunk: Buffer): void => {
    this.#clock.noteBytes();
    this.#pace?.count(chunk.length);
    this.#left -= chunk.length;
    this.bodyDone = this.#left === 0;
    this.#reader?.onBodyChunk(chunk);
  };

  readonly #onBodyEnd = (): void => {
    this.bodyDone = true;
    const reader = this.#reader;
    this.#reader = null;
    reader?.onBodyEnd();
    if (this.#clock.phase === phase.discarding && this.#current === null) this.#next();
  };

  #breakBody(refusal: Refusal): void {
    const reader = this.#reader;
    this.#reader = null;
    this.#refusal = refusal;
    this.#exchange?.closeAfterResponse();
    this.#clock.enter(phase.ending);
    reader?.onBodyError(refusal);
  }

  // What the exchange asks for.

  read(reader: BodyReader): void {
    if (this.bodyDone) reader.onBodyEnd();
    else if (this.#clock.phase === phase.ending && this.#refusal !== null) reader.onBodyError(this.#refusal);
    else {
      this.#reader = reader;
      this.#pace = new BodyPace(reader, this.#options.bodyJudgedAfterMs, performance.now());
      this.#current!.request.on('data', this.#onBodyChunk);
      this.resume();
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#pace?.pause(performance.now());
    this.#current?.request.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#pace?.resume(this.#clock.noteProgress());
    this.#current?.request.resume();
  }

  release(reader: BodyReader): void {
    if (this.#reader === reader) this.#reader = null;
  }

  waitForDrain(): void {
    this.#clock.waitForDrain();
  }

  finished(exchange: ServerExchange): void {
    const current = this.#exchange;
    if (current === null || current !== exchange) return;
    this.#exchange = null;
    this.#reader = null;
    this.#clock.wantsDrain = false;
    this.#options.onClosed(current);
    const { closes, cutShort } = exchange.response;
    if (cutShort) this.socket.destroy();
    else if (closes || this.#options.isClosing()) this.#clock.enter(phase.ending);
    else if (!this.bodyDone && this.#clock.phase !== phase.ending) this.#clock.enter(phase.discarding);
    this.#current?.request.resume();
  }

  detach(): { socket: Socket; bytes: Buffer } {
    const { socket } = this;
    socket
      .off('data', this.#keepEarly)
      .off('end', this.#onEnd)
      .off('drain', this.#onDrain)
      .off('error', ignore);
    socket.pause();
    return { socket, bytes: Buffer.concat(this.#early) };
  }

  // What the socket says, and the end.

  readonly #onDrain = (): void => {
    if (!this.#clock.wantsDrain) return;
    this.#clock.wantsDrain = false;
    this.#clock.noteProgress();
    this.#exchange?.onDrain?.();
  };

  /** All of a response has left: only now Node takes the next one. */
  #onSent(arrival: Arrival, response: ServerResponse): void {
    if (arrival.response === null) response.detachSocket(this.socket);
    this.#current = null;
    if (this.#clock.phase === phase.ending) this.#linger();
    else if (this.bodyDone) this.#next();
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
    else if (this.#refusal !== null) this.#refuse(this.#refusal);
    else {
      this.#clock.enter(phase.idle);
      this.socket.resume();
    }
  }

  readonly #onEnd = (): void => {
    // A client that says no more is gone: what it asked for is worth nothing to it.
    if (this.#exchange !== null && !this.#exchange.response.ended) this.reset();
    else this.socket.end();
  };

  readonly #onClose = (): void => {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#waiting.length = 0;
    if (exchange === null) return;
    exchange.onConnectionLost();
    this.#options.onClosed(exchange);
  };

  checkTime(now: number): void {
    const isSlow = this.#reader !== null && this.#pace?.isTooSlow(now) === true;
    // A next request and its head are timed by Node.
    switch (isSlow ? 'body' : this.#clock.timeoutAt(now, this.#reader !== null)) {
      case 'body':
        this.#breakBody(new Refusal('request_timeout', { close: true }));
        break;
      case 'reading':
        this.#exchange?.reset('client_too_slow');
        break;
      case 'reading-end':
        this.reset();
        break;
      case 'unwanted-body':
        this.#clock.enter(phase.ending);
        this.#linger();
        break;
      case 'close':
        this.socket.destroy();
        break;
    }
  }

  closeWhenIdle(): void {
    if (this.#exchange !== null || this.#clock.phase === phase.ending) return;
    this.#clock.enter(phase.ending);
    if (this.#current === null) this.#linger();
  }

  cut(): void {
    const exchange = this.#exchange;
    if (exchange === null || exchange.outcome !== 'ok' || exchange.response.ended) this.reset();
    else exchange.reset('shutdown');
  }

  reset(): void {
    cutSocket(this.socket, this.encrypted);
  }

  #refuse(refusal: Refusal): void {
    this.socket.write(this.#options.onUnreadable(refusal, this.peer), 'latin1');
    this.#clock.enter(phase.ending);
    this.#current?.request.resume();
    this.#linger();
  }

  /** Ends our side, and gives the client a moment to end its own. */
  #linger(): void {
    this.socket.end(() => this.#clock.noteProgress());
    this.socket.resume();
  }
}

function ignore(): void {}
