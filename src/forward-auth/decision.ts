import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Replies } from '../http/reply.ts';
import type { RequestHead } from '../http/request-head.ts';
import { offersOwnToken } from '../http/websocket-protocols.ts';
import type { Route } from '../proxy/route-table.ts';
import type { AllowedReply } from './answer.ts';
import type { Mode } from './modes.ts';
import type { ReceivedHeaders } from './received-headers.ts';

/** Answers of a listener to the proxies that ask there. */
export interface Decision {
  /** Refuses headers that the proxy would forward although the gateway would not. Throws `bad_request`. */
  assertPassable(exchange: Exchange): void;
  /** Refuses a credential that may be two joined ones. Throws `ambiguous_credentials`. */
  assertOneCredential(head: RequestHead): void;
  /** Answers that the request may pass; `principal` null: without an identity. `asPreflight` as for {@link AllowedReply}. */
  allow(exchange: Exchange, route: Route, principal: Principal | null, asPreflight: boolean): void;
  refuse(exchange: Exchange, error: unknown): void;
}

/** Creates the answers; `passesAliases` is `client_headers: pass`. */
export function createDecision(options: {
  readonly mode: Mode;
  readonly passesAliases: boolean;
  readonly received: ReceivedHeaders;
  readonly allowedReply: AllowedReply;
  readonly replies: Replies;
}): Decision {
  const { mode, passesAliases, received, allowedReply, replies } = options;
  const judgesAliases = !mode.removesHeaders && !passesAliases;
  return {
    assertPassable({ head }) {
      // The proxy would forward the token, and the upstream, which chooses among the protocols, would not know it.
      if (offersOwnToken(head.webSocketProtocols))
        throw new Refusal('bad_request', { reason: 'token as a subprotocol' });
      if (judgesAliases && received.aliasesIn(head.raw).length > 0)
        throw new Refusal('bad_request', { reason: 'header that the proxy would pass on' });
    },
    assertOneCredential({ authorization, apiKey }) {
      if (mode.joinsCredentials && (authorization.includes(',') || apiKey.includes(',')))
        throw new Refusal('ambiguous_credentials');
    },
    allow(exchange, route, principal, asPreflight) {
      replies.send(exchange, allowedReply(exchange, route, principal, asPreflight));
    },
    refuse: (exchange, error) => replies.refuse(exchange, error),
  };
}
