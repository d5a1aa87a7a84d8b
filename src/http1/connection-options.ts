import type { Socket } from 'node:net';
import type { Refusal } from '../errors.ts';
import type { TimeLimits } from './connection-clock.ts';
import type { BodyReader } from './incoming-body.ts';
import type { RequestHeadText } from './message-head.ts';
import type { RequestFraming } from './request-framing.ts';
import type { TargetLimits } from './target-limits.ts';

/** Writes one response on a client connection. */
export interface ResponseWriter {
  /** The status, 0 before {@link begin}. */
  readonly status: number;
  readonly begun: boolean;
  readonly ended: boolean;
  /** Bytes of the body so far. */
  bodyBytes: number;
  /** The connection ends with this response; may be set until `begin`. */
  closes: boolean;
  /** Whether a body whose length was said came to another one: the connection can't be used any more. */
  readonly cutShort: boolean;
  /**
   * Starts the response. `fields` are names and values in turn, without framing; `length` is that of the body in bytes,
   * -1 when it isn't known. Nothing is sent before the first bytes of the body, the end, or {@link flush}.
   *
   * Throws `UnwritableHead` and leaves the response unbegun: another may take its place.
   */
  begin(status: number, fields: readonly string[], length: number): void;
  /** Sends the head if it still waits for the first bytes of the body. */
  flush(): void;
  /** Sends bytes of the body; false when the client does not keep up. */
  write(bytes: Buffer): boolean;
  /**
   * Ends the response, with the last bytes of its body if there are some and with trailers where the framing has room.
   * Throws `UnwritableHead` for trailers, before anything of this has been sent.
   */
  end(bytes?: Buffer, trailers?: readonly string[]): void;
  /** An interim response (RFC 9110 §15.2): to HTTP/1.1 alone, before the final one. Throws `UnwritableHead`. */
  sendInterim(status: number, fields?: readonly string[]): void;
  /** Agrees to another protocol (RFC 9110 §15.2.2): the last that is written as HTTP. Throws `UnwritableHead`. */
  switchProtocols(fields: readonly string[]): void;
}

/** What an exchange may do with the client connection that its request came on. */
export interface RequestChannel {
  readonly socket: Socket;
  /** Canonical address of the peer. */
  readonly peer: string;
  readonly encrypted: boolean;
  /** Whether the request body has been read to its end, or there is none. */
  readonly bodyDone: boolean;
  /** Starts to read the request body; what has come already is given at once. */
  read(reader: BodyReader): void;
  /** Lets the client wait before it sends more of the body. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  /** The reader wants no more; the rest of the body is discarded. */
  release(reader: BodyReader): void;
  /** Told by the exchange that a write did not go through at once. */
  waitForDrain(): void;
  /** Told by the exchange that its response has been written whole. */
  finished(exchange: ServerExchange): void;
  /** Gives the socket away, with what has been read beyond the head, for another protocol. */
  detach(): { socket: Socket; bytes: Buffer };
  /** Cuts the connection, and what is still on its way to the client: it can't take that for whole. */
  reset(): void;
}

/** One request and its response, as the engine sees it. */
export interface ServerExchange {
  readonly response: ResponseWriter;
  /** `ok` until something ended it in another way. */
  readonly outcome: string;
  /** The client keeps up again after a write that did not go through at once. */
  readonly onDrain: (() => void) | null;
  /** What follows on the connection can't be trusted: it ends with this response. */
  closeAfterResponse(): void;
  /** The connection was lost before the exchange was over. */
  onConnectionLost(): void;
  /** Ends the connection without a proper end of the response; `outcome` says why. */
  reset(outcome: string): void;
}

/** One client connection, as its server sees it. */
export interface ClientConnection {
  /** Closes the connection if it has been too long where it stands; `now` as by `performance.now()`. */
  checkTime(now: number): void;
  /** No more requests: an idle connection closes now, a busy one with its response. */
  closeWhenIdle(): void;
  /** Cuts the connection because the gateway ends. */
  cut(): void;
}

/** What all connections of a listener share. Durations in milliseconds. */
export interface ConnectionOptions<Exchange extends ServerExchange> extends TimeLimits {
  readonly headerBytes: number;
  readonly targets: TargetLimits;
  /** 0: no bound. */
  readonly requestsPerConnection: number;
  readonly encrypted: boolean;
  /** Names and values in turn that tell a client how long its connection is kept. */
  readonly keepAliveFields: readonly string[];
  /** Responses carry `Connection: close` from now on. */
  isClosing(): boolean;
  /** Makes the exchange of a request whose head has come. */
  createExchange(
    channel: RequestChannel,
    response: ResponseWriter,
    head: RequestHeadText,
    framing: RequestFraming,
  ): Exchange;
  /** Responds to the exchange; never throws. */
  onRequest(exchange: Exchange): void;
  /** Bytes came that are no request; returns the whole response as latin1 text, after which the connection is over. */
  onUnreadable(refusal: Refusal, peer: string): string;
  /** The exchange is over, however it ended. */
  onClosed(exchange: Exchange): void;
}
