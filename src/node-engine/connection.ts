import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { phase } from '../http1/connection-clock.ts';
import type { ConnectionOptions, ServerExchange } from '../http1/connection-options.ts';
import { type BodyReader, IncomingBody } from '../http1/incoming-body.ts';
import { hasBody, type RequestFraming, requestFraming } from '../http1/request-framing.ts';
import { ServedConnection } from '../http1/served-connection.ts';
import { isHeadTooLong, type ParserError, refusalOf } from './parser-limits.ts';
import { NodeResponse } from './response.ts';

/** A request as `node:http` hands it over. */
interface Arrival {
  readonly request: IncomingMessage;
  /** Null if it asks for another protocol, which is what `early` then belongs to. */
  readonly response: ServerResponse | null;
  readonly early: Buffer;
}

/** Pipelined requests that are kept before the client has to wait. */
const maxWaiting = 16;
/** Bytes for another protocol that are kept before the client has to wait. */
const maxEarlyBytes = 64 * 1024;
const noBody = new IncomingBody({ isChunked: false, length: -1 }, 0);

/** One client connection that `node:http` reads. */
export class NodeConnection<Exchange extends ServerExchange> extends ServedConnection<Exchange> {
  protected body: IncomingBody = noBody;
  /** The request whose response has not left yet. */
  #current: Arrival | null = null;
  readonly #waiting: Arrival[] = [];
  /** For what came after the last request, or in place of its body. */
  #refusal: Refusal | null = null;
  #early: Buffer[] = [];
  #earlyBytes = 0;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    super(socket, options);
    // Before Node's own listener, which would end our side and leave nothing to reset.
    socket.prependListener('end', this.onEnd);
    // Node would close with unread bytes, and the client could lose the response (RFC 9112 §9.6).
    socket.destroySoon = () => this.#linger();
  }

  // From Node.

  /** Takes a request; it has its turn when the responses to those before it have left. */
  receive(arrival: Arrival): void {
    arrival.request.on('error', ignore);
    if (this.clock.phase === phase.ending) return;
    if (this.#current === null) this.#accept(arrival);
    else if (this.#waiting.push(arrival) > maxWaiting) this.socket.pause();
  }

  /** Takes what Node's parser says of bytes that are no request or no body, or have not come in time. */
  receiveError(error: ParserError): void {
    const refusal = refusalOf(error);
    const isUnused = this.socket.bytesRead === 0;
    if (refusal === null || isUnused) this.socket.destroy();
    else if (this.clock.phase === phase.ending) return;
    else if (this.#current === null) this.onUnreadable(refusal);
    else {
      this.#refusal ??= refusal;
      if (this.#waiting.length === 0 && !this.#current.request.complete) this.onBodyBroken(refusal);
    }
  }

  #accept(arrival: Arrival): void {
    const { request } = arrival;
    const { method = '', url: target = '', httpVersionMinor: minor, rawHeaders: fields } = request;
    const framing = requestFraming(minor, fields);
    this.#current = arrival;
    const problem = this.#problemOf(arrival, framing);
    if (problem !== null) {
      this.#current = null;
      request.resume();
      this.onUnreadable(problem);
      return;
    }
    this.body = hasBody(framing) ? new IncomingBody(framing, 0) : noBody;
    if (!this.body.done) this.#readBody(request, framing);
    const response = arrival.response ?? this.#takeOver(arrival);
    response.on('finish', () => this.#onSent(response));
    const closes = this.isLast(framing) || arrival.response === null;
    const writer = new NodeResponse(response, this.socket, closes, this.options.keepAliveFields);
    this.begin(this.options.createExchange(this, writer, { method, target, minor, fields }, framing));
  }

  /** What Node lets through, and the built-in engine doesn't. */
  #problemOf({ request, response }: Arrival, framing: RequestFraming): Refusal | null {
    if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1)
      return new Refusal('version_not_supported');
    if (isHeadTooLong(request, this.options)) return new Refusal('headers_too_large');
    return response === null && hasBody(framing) ? new Refusal('bad_request') : null;
  }

  #readBody(request: IncomingMessage, { isChunked }: RequestFraming): void {
    const { body } = this;
    request.pause();
    request.on('data', (chunk: Buffer) => {
      this.clock.noteBytes();
      if (isChunked) body.onChunk(chunk);
      else body.feed(chunk, 0);
    });
    request.on('end', () => {
      body.done = true;
      const { reader } = body;
      body.reader = null;
      reader?.onBodyEnd();
      if (this.clock.phase === phase.discarding && this.#current === null) this.#turn();
    });
  }

  /** Node stops reading where another protocol is asked for: what follows is kept for it. */
  #takeOver({ request, early }: Arrival): ServerResponse {
    const response = new ServerResponse(request);
    response.assignSocket(this.socket);
    this.#keepEarly(early);
    this.socket.on('data', this.#keepEarly);
    return response;
  }

  readonly #keepEarly = (bytes: Buffer): void => {
    if (this.clock.phase === phase.ending) return;
    this.#early.push(bytes);
    this.#earlyBytes += bytes.length;
    if (this.#earlyBytes > maxEarlyBytes) this.socket.pause();
  };

  /** A response has left: only now Node takes the next one. */
  #onSent(response: ServerResponse): void {
    if (this.#current?.response === null) response.detachSocket(this.socket);
    this.#current = null;
    if (this.clock.phase === phase.ending) this.#linger();
    else if (this.bodyDone) this.#turn();
  }

  #turn(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#accept(next);
    else if (this.#refusal !== null) this.onUnreadable(this.#refusal);
    else {
      this.clock.enter(phase.idle);
      this.socket.resume();
    }
  }

  // From the exchange.

  override read(reader: BodyReader): void {
    const isBroken = this.clock.phase === phase.ending && !this.bodyDone;
    if (isBroken && this.#refusal !== null) reader.onBodyError(this.#refusal);
    else super.read(reader);
  }

  isPaused(): boolean {
    return this.#current?.request.isPaused() === true;
  }

  protected pauseInput(): void {
    this.#current?.request.pause();
  }

  protected resumeInput(): void {
    this.#current?.request.resume();
  }

  detach(): { socket: Socket; bytes: Buffer } {
    this.socket.off('data', this.#keepEarly).off('end', this.onEnd);
    this.letGo();
    return { socket: this.socket, bytes: Buffer.concat(this.#early) };
  }

  // From one request to the next, and closing.

  /** Waits until the response has left. */
  protected next(): void {}

  protected discardBody(): void {
    this.clock.enter(phase.discarding);
    this.resumeInput();
  }

  protected end(): void {
    this.clock.enter(phase.ending);
    this.resumeInput();
    const isSending = this.#current !== null && this.exchange === null;
    if (!isSending) this.#linger();
  }

  #linger(): void {
    this.socket.end(() => this.clock.noteProgress());
    this.socket.resume();
  }

  protected clear(): void {
    this.#waiting.length = 0;
  }

  override checkTime(now: number): void {
    // Node itself keeps the time of the next request and its head.
    if (this.clock.phase !== phase.idle || this.writableLength > 0) super.checkTime(now);
  }
}

function ignore(): void {}
