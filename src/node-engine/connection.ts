import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Refusal } from '../errors.ts';
import { receivedHead } from '../http1/message/message-head.ts';
import { hasBody, type RequestFraming, requestFraming } from '../http1/message/request-framing.ts';
import { phase } from '../http1/server/connection-clock.ts';
import type { ConnectionOptions, ServerExchange } from '../http1/server/connection-options.ts';
import { type BodyReader, IncomingBody } from '../http1/server/incoming-body.ts';
import { ServedConnection } from '../http1/server/served-connection.ts';
import { NodeResponse } from './response.ts';

/** Maximum number of pipelined requests that are kept before the client has to wait. */
const maxWaiting = 16;

/** Client connection read by `node:http`, which hands over each request with its response. */
export class NodeConnection<Exchange extends ServerExchange> extends ServedConnection<Exchange> {
  protected body: IncomingBody = new IncomingBody({ isChunked: false, length: 0 }, 0);
  #current: ServerResponse | null = null;
  readonly #waiting: ServerResponse[] = [];
  /** Refusal of malformed bytes after the last request, or within its body. */
  #refusal: Refusal | null = null;
  /** The socket's `bytesRead` when the connection last became idle: bytes beyond it are part of a head. */
  #bytesRead: number;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    super(socket, options);
    this.#bytesRead = socket.bytesRead;
    // Before Node's own listener, which would end our side and leave nothing to reset.
    socket.prependListener('end', this.onEnd);
    // Node would close with unread bytes, and the client could lose the response (RFC 9112 §9.6).
    socket.destroySoon = () => this.#linger();
  }

  /** Takes a request, to be processed once the responses to earlier requests have been sent. */
  receive(response: ServerResponse): void {
    if (this.clock.phase === phase.ending) return;
    if (this.#current === null) this.#accept(response);
    else if (this.#waiting.push(response) > maxWaiting) this.socket.pause();
  }

  receiveError(error: Error & { readonly rawPacket?: Buffer }): void {
    const refusal = refusalOf(error);
    if (refusal === null || this.socket.bytesRead === 0) this.socket.destroy();
    else if (this.clock.phase === phase.ending) return;
    // If earlier bytes of the same packet were a request, that request would still be open.
    else if (this.#current === null) this.onUnreadable(refusal, error.rawPacket ?? this.begunHead);
    else {
      this.#refusal ??= refusal;
      if (this.#waiting.length === 0 && !this.#current.req.complete) this.onBodyBroken(refusal);
    }
  }

  #accept(response: ServerResponse): void {
    const { req: request } = response;
    const { method = '', url: target = '', httpVersionMinor: minor, rawHeaders: fields } = request;
    const framing = requestFraming(minor, fields);
    const problem = problemOf(request, framing, this.options);
    if (problem !== null) {
      request.resume();
      this.onUnreadable(problem, receivedHead({ method, target, fields }));
      return;
    }
    // The request asks for another protocol: Node has left the socket to us.
    const isLast = response.socket === null;
    if (isLast) response.assignSocket(this.socket);
    this.#current = response;
    response.on('finish', () => {
      this.#current = null;
      this.#turn();
    });
    this.body = new IncomingBody(framing, 0);
    if (!this.body.done) this.#readBody(request);
    const writer = new NodeResponse(response, this.isLast(framing) || isLast, this.options.keepAlive);
    this.begin(this.options.createExchange(this, writer, { method, target, minor, fields }, framing));
  }

  #readBody(request: IncomingMessage): void {
    const { body } = this;
    request.pause();
    request.on('data', (chunk: Buffer) => {
      this.clock.noteBytes();
      body.onChunk(chunk);
    });
    request.on('end', () => {
      body.end();
      this.#turn();
    });
  }

  /** Goes on to the next request, once the response has been sent and the whole request has arrived. */
  #turn(): void {
    const isEnding = this.clock.phase === phase.ending;
    if (this.#current !== null || !(this.bodyDone || isEnding)) return;
    const next = this.#waiting.shift();
    if (isEnding) this.#linger();
    else if (next !== undefined) this.#accept(next);
    else if (this.#refusal !== null) this.onUnreadable(this.#refusal, this.begunHead);
    else {
      this.clock.enter(phase.idle);
      this.#bytesRead = this.socket.bytesRead;
      this.socket.resume();
    }
  }

  override read(reader: BodyReader): void {
    const isBroken = this.clock.phase === phase.ending && !this.bodyDone;
    if (isBroken && this.#refusal !== null) reader.onBodyError(this.#refusal);
    else super.read(reader);
  }

  protected override get input(): Readable {
    return this.#current?.req ?? this.socket;
  }

  detach(): { socket: Socket; bytes: Buffer } {
    this.socket.off('end', this.onEnd);
    this.letGo();
    return { socket: this.socket, bytes: Buffer.alloc(0) };
  }

  /** Does nothing: the next request is taken once the response has been sent. */
  protected next(): void {}

  protected discardBody(): void {
    this.clock.enter(phase.discarding);
    this.resumeInput();
  }

  protected end(): void {
    this.clock.enter(phase.ending);
    this.resumeInput();
    if (this.#current === null) this.#linger();
  }

  #linger(): void {
    this.socket.end(() => this.clock.noteProgress());
    this.socket.resume();
  }

  override closeIdle(): void {
    if (this.socket.bytesRead === this.#bytesRead) super.closeIdle();
  }

  override checkTime(now: number): void {
    // Node itself keeps the time of the next request and its head.
    if (this.clock.phase !== phase.idle || this.writableLength > 0) super.checkTime(now);
  }
}

/** The refusal for a `clientError`; null if the connection itself failed. */
function refusalOf({ code = '', message }: Error & { readonly code?: string }): Refusal | null {
  const options = { close: true, cause: message };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', options);
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', options);
  const isMalformed = code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE';
  return isMalformed ? new Refusal('bad_request', options) : null;
}

/** Refusal of a request that only Node accepts: another version, CONNECT with a body, a long head; null for any other request. */
function problemOf(
  { httpVersion, method = '', url = '', rawHeaders }: IncomingMessage,
  framing: RequestFraming,
  { headerBytes, targets }: Pick<ConnectionOptions<ServerExchange>, 'headerBytes' | 'targets'>,
): Refusal | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new Refusal('version_not_supported');
  if (method === 'CONNECT' && hasBody(framing)) return new Refusal('bad_request');
  // Some long targets don't count in full, nor do spaces that Node cut off.
  const requestLine = Buffer.from(`${method} ${url} HTTP/1.1`, 'latin1');
  const length = rawHeaders.reduce((sum, text) => sum + text.length + 2, requestLine.length);
  const isTooLong = length > headerBytes && length - targets.uncounted(requestLine, 0, true) > headerBytes;
  return isTooLong ? new Refusal('headers_too_large') : null;
}
