import { randomUUID } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import type { RequestChannel, ResponseWriter } from '../http1/server/connection-options.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import {
  type CreateListener,
  type ServerLimits as EngineLimits,
  Http1Server,
  type ServerOptions,
} from '../http1/server/server.ts';
import { createTargetLimits, type LongTargets, type TargetLimits } from '../http1/server/target-limits.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import { readBegunRequest } from './begun-request.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import { ConnectionsByAddress } from './connections-by-address.ts';
import { Exchange } from './exchange.ts';
import type { RefusedRequest } from './refused-request.ts';
import { asItIs, type RefusalShape, unreadableRequestResponse } from './reply.ts';
import { type RequestHead, readRequestHead } from './request-head.ts';

/** Bounds of the public listener; durations in milliseconds. */
export interface ServerLimits extends EngineLimits {
  /** Open connections per client address; an IPv6 /64 counts as one address. 0: no limit. */
  readonly connectionsPerAddress: number;
  readonly targetBytes: number;
  readonly headerCount: number;
}

/** Why a connection was closed at once: too many are open, or too many from its address. */
export type ConnectionRefusal = 'limit' | 'address';

/** The settings of the public listener that may change while it runs. */
export interface ServerSettings {
  readonly limits: ServerLimits;
  /** Default: none. */
  readonly longTargets?: LongTargets;
  readonly proxies: TrustedProxies;
  /** Further headers of the responses to what never becomes an exchange, names and values in turn; default: none. */
  readonly unreadableFields?: readonly string[];
}

/** Makes the exchange of a request whose head has been read. */
export type CreateExchange = (
  channel: RequestChannel,
  response: ResponseWriter,
  head: RequestHead,
  text: RequestHeadText,
) => Exchange;

export interface PublicServerOptions extends ServerSettings {
  /** The tenant, for challenges. */
  readonly realm: string;
  /** Null for plain HTTP. */
  readonly tls: ListenerTls | null;
  /** Reads the requests; default: the built-in engine. */
  readonly createListener?: CreateListener | undefined;
  /** Default: of the request as it was received. */
  readonly createExchange?: CreateExchange;
  /** How bytes that never become an exchange are refused; default: like everything else. */
  readonly refusalShape?: RefusalShape;
  /** True if a connection is accepted, besides `limits`; called before its first byte, even of TLS. Default: always. */
  readonly admits?: (socket: Socket) => boolean;
  /** Handles the exchange; never throws. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Refuses an exchange that is unfit, or whose head is too large, before it is counted for any route. */
  readonly onRefused: (exchange: Exchange, refusal: Refusal) => void;
  /** Called when an exchange is over, however it ended. */
  readonly onClosed: (exchange: Exchange) => void;
  /** Called when a connection is closed before its first byte. */
  readonly onConnectionRefused: (why: ConnectionRefusal) => void;
  /** Called when received bytes are refused that never became an exchange. */
  readonly onUnreadable: (refusal: Refusal, peer: string, requestId: string) => void;
  /** The response, as latin1 text, to such bytes that begin like a request; default: as to all others. */
  readonly refuseBegun?: (request: RefusedRequest, refusal: Refusal) => string;
  /** A TLS handshake failed. */
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
}

/**
 * The public listener: the engine's server, with exchanges and further settings of its own. Framing and limits are checked
 * here, before anything else sees a request.
 */
export class PublicServer {
  readonly #options: PublicServerOptions;
  readonly #byAddress = new ConnectionsByAddress();
  readonly #server: Http1Server<Exchange>;
  #limits: ServerLimits;
  #proxies: TrustedProxies;
  #targets: TargetLimits;
  #unreadableFields: readonly string[];

  constructor(options: PublicServerOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#proxies = options.proxies;
    this.#targets = targetLimits(options);
    this.#unreadableFields = options.unreadableFields ?? [];
    this.#server = new Http1Server(this.#engineOptions(), options.createListener);
  }

  /** Open client connections. */
  get connections(): number {
    return this.#server.connections;
  }

  /** As {@link Http1Server.sockets}. */
  get sockets(): number {
    return this.#server.sockets;
  }

  /** As {@link Http1Server.limitConnections}. */
  limitConnections(count: number): void {
    this.#server.limitConnections(count);
  }

  /** As {@link Http1Server.listen}. */
  listen(host: string, port: number, isShared = false): Promise<AddressInfo> {
    return this.#server.listen(host, port, isShared);
  }

  /** Uses these settings for new connections, see {@link Http1Server.renewTls}. */
  renewTls(tls: ListenerTls): void {
    this.#server.renewTls(tls);
  }

  /** Applies new settings: timeouts at once to every connection, the others to new ones. */
  apply(settings: ServerSettings): void {
    this.#limits = settings.limits;
    this.#proxies = settings.proxies;
    this.#targets = targetLimits(settings);
    this.#unreadableFields = settings.unreadableFields ?? [];
    this.#server.apply({ limits: this.#limits, targets: this.#targets });
  }

  /** Adds `Connection: close` to all responses; connections are still accepted. */
  announceClose(): void {
    this.#server.announceClose();
  }

  /** Stops accepting; resolves when all requests in flight have finished. After `timeoutMs` the rest are reset. */
  drain(timeoutMs: number): Promise<void> {
    return this.#server.drain(timeoutMs);
  }

  #engineOptions(): ServerOptions<Exchange> {
    const { realm, tls, onClosed, onConnectionRefused, onUnreadable, onHandshakeFailed } = this.#options;
    const { createExchange = this.#createExchange, refusalShape = asItIs } = this.#options;
    const { admits, refuseBegun } = this.#options;
    return {
      limits: this.#limits,
      targets: this.#targets,
      tls,
      admits: (socket) => {
        if (admits?.(socket) === false) return false;
        const admitted = this.#byAddress.admit(socket, this.#limits.connectionsPerAddress);
        if (!admitted) onConnectionRefused('address');
        return admitted;
      },
      onDropped: () => onConnectionRefused('limit'),
      createExchange: (channel, response, text, framing) => {
        const mayBeWebSocket = text.minor === 1 && text.method === 'GET';
        const head = readRequestHead(text.fields, framing, mayBeWebSocket);
        return createExchange(channel, response, head, text);
      },
      onRequest: (exchange) => this.#begin(exchange),
      onUnreadable: (refusal, peer, received) => {
        const requestId = randomUUID();
        onUnreadable(refusal, peer, requestId);
        const begun = refuseBegun === undefined ? null : readBegunRequest(received, requestId);
        if (begun !== null) return refuseBegun!(begun, refusal);
        return unreadableRequestResponse(refusal, realm, requestId, refusalShape, this.#unreadableFields);
      },
      onClosed,
      onHandshakeFailed,
    };
  }

  readonly #createExchange: CreateExchange = (channel, response, head, text) => {
    const { peer } = channel;
    const fromTrustedProxy = this.#proxies.isTrusted(peer);
    const address = fromTrustedProxy ? clientAddress(peer, head.forwardedFor, this.#proxies) : peer;
    return new Exchange(channel, response, head, text, address, fromTrustedProxy);
  };

  #begin(exchange: Exchange): void {
    const { onExchange, onRefused } = this.#options;
    if (exchange.unfit !== null) onRefused(exchange, exchange.unfit);
    else if (exchange.head.raw.length > 2 * this.#limits.headerCount)
      onRefused(exchange, new Refusal('headers_too_large', { close: true, reason: 'too many headers' }));
    else if (this.#targets.isTooLong(exchange.method, exchange.path, exchange.target.length))
      onRefused(exchange, new Refusal('target_too_long', { close: true }));
    else onExchange(exchange);
  }
}

function targetLimits({ limits, longTargets }: ServerSettings): TargetLimits {
  return createTargetLimits(limits.targetBytes, longTargets ?? { maxBytes: 0, has: () => false });
}
