import type { Socket } from 'node:net';
import type { Refusal } from '../../errors.ts';
import type { FieldBlock } from '../message/head-text.ts';
import type { RequestHeadText } from '../message/message-head.ts';
import type { RequestFraming } from '../message/request-framing.ts';
import type { TimeLimits } from './connection-clock.ts';
import type { BodyReader } from './incoming-body.ts';
import type { TargetLimits } from './target-limits.ts';

/** Writes one response on a client connection. */
export interface ResponseWriter {
  /** The status, 0 before {@link begin}. */
  readonly status: number;
  readonly begun: boolean;
  readonly ended: boolean;
  bodyBytes: number;
  /** True if the connection closes after this response; may be set before {@link begin}. */
  closes: boolean;
  /** True if the body is shorter or longer than announced, so that the connection can't be reused. */
  readonly cutShort: boolean;
  /**
   * Starts the response. `fields` are alternating names and values, without framing headers; those of `block` follow them.
   * `length` is the body's length in bytes, -1 if unknown. Nothing is sent until {@link write}, {@link end} or {@link flush}.
   *
   * Throws `UnwritableHead`; the response has then not begun, and another can be sent instead.
   */
  begin(status: number, fields: readonly string[], length: number, block?: FieldBlock | null): void;
  /** Sends the head if it is still waiting for the first bytes of the body. */
  flush(): void;
  /** Sends bytes of the body; returns false if the client reads too slowly and the caller should wait. */
  write(bytes: Buffer): boolean;
  /**
   * Ends the response with the last bytes of its body, if any, and with trailers if the framing allows them. Throws
   * `UnwritableHead` for unwritable trailers, before anything is sent.
   */
  end(bytes?: Buffer, trailers?: readonly string[]): void;
  /** Sends an interim response (RFC 9110 §15.2), except to HTTP/1.0 or once {@link begun} is true. Throws `UnwritableHead`. */
  sendInterim(status: number, fields?: readonly string[]): void;
  /** Sends 101 (RFC 9110 §15.2.2), after which the connection is no longer HTTP. Throws `UnwritableHead`. */
  switchProtocols(fields: readonly string[]): void;
}

/** The client connection of an exchange, as the exchange sees it. */
export interface RequestChannel {
  readonly socket: Socket;
  readonly peer: string;
  readonly encrypted: boolean;
  /** The subject of the client's verified certificate in RFC 4514 notation; null if the client has presented none. */
  readonly clientCertificate: string | null;
  /** True once the whole request body has arrived, or if there is none. */
  readonly bodyDone: boolean;
  /** Starts to read the request body; what has already arrived is passed on at once. */
  read(reader: BodyReader): void;
  /** Stops reading the body, which makes the client wait. */
  pause(): void;
  resume(): void;
  /** Detaches the reader; the rest of the body is discarded after the response. */
  release(reader: BodyReader): void;
  /** Called by the exchange when it can't write on until the client has read more. */
  waitForDrain(): void;
  /** Called by the exchange when its response has been written completely. */
  finished(exchange: ServerExchange): void;
  /** Hands the socket over to another protocol; returns it with the bytes already read beyond the head. */
  detach(): { socket: Socket; bytes: Buffer };
  /** Cuts the connection and drops unsent data, so that the client can't take a truncated response for a complete one. */
  reset(): void;
}

/** A request and its response, as the engine sees them. */
export interface ServerExchange {
  readonly response: ResponseWriter;
  readonly outcome: string;
  readonly onDrain: (() => void) | null;
  closeAfterResponse(): void;
  onConnectionLost(): void;
  reset(outcome: string): void;
}

/** Options shared by all connections of a listener; durations are in milliseconds. */
export interface ConnectionOptions<Exchange extends ServerExchange> extends TimeLimits {
  readonly headerBytes: number;
  readonly targets: TargetLimits;
  /** Maximum number of requests; 0: no limit. */
  readonly requestsPerConnection: number;
  readonly encrypted: boolean;
  /** Headers added to a response after which the connection stays open. */
  readonly keepAlive: FieldBlock;
  /** True if responses to new requests must carry `Connection: close`. */
  isClosing(): boolean;
  createExchange(
    channel: RequestChannel,
    response: ResponseWriter,
    head: RequestHeadText,
    framing: RequestFraming,
  ): Exchange;
  /** Responds to the exchange; never throws. */
  onRequest(exchange: Exchange): void;
  /**
   * Called when no request can be read; returns the complete response, in latin1, after which the connection closes.
   * `received`: as much of the request's head as is known.
   */
  onUnreadable(refusal: Refusal, peer: string, received: Buffer): string;
  /** Called once the exchange is over, however it ended. */
  onClosed(exchange: Exchange): void;
}
