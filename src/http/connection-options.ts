import type { Refusal } from '../errors.ts';
import type { TrustedProxies } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import type { TargetLimits } from './target-limits.ts';

/** What all connections of a listener share. Durations in milliseconds. */
export interface ConnectionOptions {
  readonly headerBytes: number;
  readonly targets: TargetLimits;
  readonly headerTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** How long a body is read before its rate is judged. */
  readonly bodyJudgedAfterMs: number;
  readonly writeIdleTimeoutMs: number;
  /** 0: no bound. */
  readonly requestsPerConnection: number;
  readonly encrypted: boolean;
  readonly proxies: TrustedProxies;
  /** Field lines that tell a client how long its connection is kept, CRLF included. */
  readonly keepAliveText: string;
  /** Answers carry `Connection: close` from now on. */
  isClosing(): boolean;
  /** A request head has been read. */
  onRequest(exchange: Exchange): void;
  /** Bytes came that are no request; the refusal as bytes, and the connection is over. */
  onUnreadable(refusal: Refusal, peer: string): string;
  /** The exchange is over, however it ended. */
  onClosed(exchange: Exchange): void;
}
