import { randomUUID } from 'node:crypto';
import { Refusal } from '../errors.ts';
import {
  type CertificatePair,
  type CreateListener,
  createHttp1Server,
  type ServerLimits as EngineLimits,
  type Http1Server,
  type ServerOptions,
} from '../http1/server.ts';
import { createTargetLimits, type LongTargets, type TargetLimits } from '../http1/target-limits.ts';
import type { TrustedProxies } from './client-address.ts';
import { ConnectionsByAddress } from './connections-by-address.ts';
import { Exchange } from './exchange.ts';
import { unreadableRequestResponse } from './reply.ts';
import { readRequestHead } from './request-head.ts';

/** Bounds of the public listener; durations in milliseconds. */
export interface ServerLimits extends EngineLimits {
  /** Open connections per client address; an IPv6 /64 counts as one address. 0: no limit. */
  readonly connectionsPerAddress: number;
  readonly targetBytes: number;
  readonly headerCount: number;
}

/** The settings of the public listener that may change while it runs. */
export interface ServerSettings {
  readonly limits: ServerLimits;
  /** Default: none. */
  readonly longTargets?: LongTargets;
  readonly proxies: TrustedProxies;
}

export interface PublicServerOptions extends ServerSettings {
  /** The tenant, for challenges. */
  readonly realm: string;
  /** PEM texts; null for plain HTTP. */
  readonly tls: CertificatePair | null;
  /** Reads the requests; default: the built-in engine. */
  readonly createListener?: CreateListener | undefined;
  /** Handles the exchange; never throws. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Refuses an exchange whose head is too large, before it is counted for any route. */
  readonly onRefused: (exchange: Exchange, refusal: Refusal) => void;
  /** Called when an exchange is over, however it ended. */
  readonly onClosed: (exchange: Exchange) => void;
  /** Called when received bytes are refused that never became an exchange. */
  readonly onUnreadable: (refusal: Refusal, peer: string, requestId: string) => void;
}

/** The public listener: the engine's server, with exchanges and further settings of its own. */
export interface PublicServer extends Omit<Http1Server, 'apply'> {
  /** Applies new settings: timeouts at once to every connection, the others to new ones. */
  apply(settings: ServerSettings): void;
}

/** Creates the public listener. Framing and limits are checked here, before anything else sees a request. */
export function createPublicServer(options: PublicServerOptions): PublicServer {
  const { realm, tls, onExchange, onRefused, onClosed } = options;
  const byAddress = new ConnectionsByAddress();
  let { limits, proxies } = options;
  let targets = targetLimits(options);

  const engineOptions: ServerOptions<Exchange> = {
    limits,
    targets,
    tls,
    admits: (socket) => byAddress.admit(socket, limits.connectionsPerAddress),
    createExchange(channel, response, text, framing) {
      const mayBeWebSocket = text.minor === 1 && text.method === 'GET';
      const head = readRequestHead(text.fields, framing, mayBeWebSocket);
      return new Exchange(channel, response, head, text, proxies);
    },
    onRequest(exchange) {
      if (exchange.head.raw.length > 2 * limits.headerCount)
        onRefused(exchange, new Refusal('headers_too_large', { close: true, reason: 'too many headers' }));
      else if (targets.isTooLong(exchange.method, exchange.path, exchange.target.length))
        onRefused(exchange, new Refusal('target_too_long', { close: true }));
      else onExchange(exchange);
    },
    onUnreadable(refusal, peer) {
      const requestId = randomUUID();
      options.onUnreadable(refusal, peer, requestId);
      return unreadableRequestResponse(refusal, realm, requestId);
    },
    onClosed,
  };
  const server = createHttp1Server(engineOptions, options.createListener);

  return {
    get connections() {
      return server.connections;
    },
    listen: server.listen,
    renewCertificate: server.renewCertificate,
    apply(settings) {
      ({ limits, proxies } = settings);
      targets = targetLimits(settings);
      server.apply({ limits, targets });
    },
    announceClose: server.announceClose,
    drain: server.drain,
  };
}

function targetLimits({ limits, longTargets }: ServerSettings): TargetLimits {
  return createTargetLimits(limits.targetBytes, longTargets ?? { maxBytes: 0, has: () => false });
}
