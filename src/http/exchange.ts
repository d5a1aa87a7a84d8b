import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { canonicalAddress, clientAddress, type TrustedProxies } from './client-address.ts';
import { isUsableRequestId, RequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** What the access line and the open-stream registry need to know of the caller. */
export interface Caller {
  readonly kind: 'session' | 'api_key';
  readonly userId: string;
  readonly credentialId: string;
}

/** One request and its answer on the public listener, with what is known of it so far. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: RequestHead;
  readonly method: string;
  /** The request target as it came. */
  readonly target: string;
  /** Index of `?` in the target, or its length. */
  readonly pathEnd: number;
  readonly path: string;
  readonly id: string;
  /** Address of the peer of the connection. */
  readonly peer: string;
  /** Whether the peer's `X-Forwarded-*` count. */
  readonly fromTrustedProxy: boolean;
  /** Address of the client: the right-most that is no trusted proxy. */
  readonly address: string;
  readonly encrypted: boolean;
  /** `performance.now()` when the head had been read. */
  readonly startedMs: number;
  /** The configured path of the route or the pattern of the own endpoint, for log and metrics. */
  route = '';
  /** `ok`, a refusal's code, or what else ended it. */
  outcome = 'ok';
  caller: Caller | null = null;
  bytesIn = 0;
  bytesOut = 0;
  /** The client waits for `100 Continue` (RFC 9110 §10.1.1); cleared once it was told. */
  expectsContinue: boolean;
  /** The request body has been read, or there is none. */
  bodyRead: boolean;
  /** Whoever reads the body, told when the parser finds it broken. */
  bodyReader: ((error: Error) => void) | null = null;
  /** What works for this exchange, told once when it is over, however it ended. */
  onClose: (() => void) | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    proxies: TrustedProxies,
    expectsContinue: boolean,
  ) {
    this.startedMs = performance.now();
    this.request = request;
    this.response = response;
    this.head = new RequestHead(request.rawHeaders);
    this.method = request.method!;
    this.target = request.url!;
    this.pathEnd = queryStart(this.target);
    this.path = this.pathEnd === this.target.length ? this.target : this.target.slice(0, this.pathEnd);
    this.id = isUsableRequestId(this.head) ? this.head.requestId : randomUUID();
    const socket = request.socket as Socket & Partial<Pick<TLSSocket, 'encrypted'>>;
    this.peer = peerOf(socket);
    this.encrypted = socket.encrypted === true;
    this.fromTrustedProxy = proxies.isTrusted(this.peer);
    this.address = this.fromTrustedProxy
      ? clientAddress(this.peer, this.head.forwardedFor, proxies)
      : this.peer;
    this.expectsContinue = expectsContinue;
    this.bodyRead = !this.head.hasBody;
  }

  /** The query without `?`, as it came. */
  get query(): string {
    return this.target.slice(this.pathEnd + 1);
  }

  /** Tells a waiting client to send its body. */
  continue(): void {
    if (!this.expectsContinue) return;
    this.expectsContinue = false;
    this.response.writeContinue();
  }

  /** The body can't be read to its end: its reader fails with `error`. False when nobody reads it. */
  breakBody(error: Error): boolean {
    if (this.bodyReader === null) return false;
    this.bodyReader(error);
    return true;
  }

  /** Ends the connection without a proper end of the answer: never a body that looks complete. */
  reset(outcome: string): void {
    this.outcome = outcome;
    const { socket } = this.request;
    // TLS has no reset of its own: a close without its close_notify says the same.
    if (this.encrypted) socket.destroy();
    else socket.resetAndDestroy();
  }
}

const peers = new WeakMap<Socket, string>();

/** The canonical address of the peer, worked out once a connection. */
function peerOf(socket: Socket): string {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = canonicalAddress(socket.remoteAddress ?? '');
    peers.set(socket, peer);
  }
  return peer;
}
