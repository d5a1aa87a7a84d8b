import type { Socket } from 'node:net';
import type { RequestHeadText } from '../message/message-head.ts';
import { Output } from '../message/output.ts';
import type { RequestFraming } from '../message/request-framing.ts';
import { phase } from './connection-clock.ts';
import type { ConnectionOptions, ServerExchange } from './connection-options.ts';
import type { IncomingBody } from './incoming-body.ts';
import { type RequestEvents, RequestReader } from './request-reader.ts';
import { SocketResponseWriter } from './response-writer.ts';
import { ServedConnection } from './served-connection.ts';

/** Client connection of the built-in engine: reads its requests and starts their exchanges one at a time. */
export class ServerConnection<Exchange extends ServerExchange>
  extends ServedConnection<Exchange>
  implements RequestEvents
{
  readonly #reader: RequestReader;
  readonly #output: Output;

  constructor(socket: Socket, options: ConnectionOptions<Exchange>) {
    super(socket, options);
    this.#output = new Output(socket);
    this.#reader = new RequestReader(socket, this.clock, options, this);
    socket.on('data', this.#onData);
    socket.on('end', this.onEnd);
  }

  protected get body(): IncomingBody {
    return this.#reader.body;
  }

  protected override get begunHead(): Buffer {
    return this.#reader.begun;
  }

  // Called by the reader.

  onRequest(head: RequestHeadText, framing: RequestFraming): void {
    const response = new SocketResponseWriter(
      this.#output,
      head.minor,
      head.method === 'HEAD',
      this.isLast(framing),
      this.options.keepAlive,
    );
    this.begin(this.options.createExchange(this, response, head, framing));
  }

  onDiscarded(): void {
    this.next();
  }

  onTooMuchDiscarded(): void {
    if (this.clock.phase === phase.ending) this.reset();
    else this.end();
  }

  // Called by the exchange.

  protected override resumeInput(): void {
    this.#reader.readKept();
    if (this.socket.isPaused()) this.socket.resume();
  }

  detach(): { socket: Socket; bytes: Buffer } {
    const bytes = this.#reader.detach();
    this.#output.flush();
    this.socket.off('data', this.#onData).off('end', this.onEnd);
    this.letGo();
    return { socket: this.socket, bytes };
  }

  // Called by the socket.

  readonly #onData = (chunk: Buffer): void => {
    this.clock.noteBytes();
    this.#reader.push(chunk);
  };

  // Called by the base class, between requests and at the end.

  protected next(): void {
    this.clock.enter(phase.idle);
    this.#reader.forgetBody();
    if (this.#reader.hasKept) process.nextTick(this.resumeLater);
    else if (this.socket.isPaused()) this.socket.resume();
  }

  protected discardBody(): void {
    this.#reader.discardBody();
    this.resume();
  }

  /** Ends our side but reads on: closing with unread bytes would reset the connection and lose the response (RFC 9112 §9.6). */
  protected end(): void {
    this.#reader.discardAll();
    this.#output.flush();
    this.socket.end(() => this.clock.noteProgress());
    if (this.socket.isPaused()) this.socket.resume();
  }

  protected override flush(): void {
    this.#output.flush();
  }

  protected override clear(): void {
    this.#reader.clear();
  }
}
