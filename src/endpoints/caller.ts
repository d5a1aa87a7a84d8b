import { type Author, type Caller, callerOf } from '../administration/caller.ts';
import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Actor, anonymous, system } from '../log/log.ts';

const maxUserAgentLength = 256;

/** The caller of an endpoint. */
export function callerIn(call: { readonly exchange: Exchange; readonly principal: Principal }): Caller {
  return callerOf(call.principal, originOf(call.exchange));
}

/** The author of a request without a verified credential; `user` is the id of the user whose credential it was, if known. */
export function anonymousIn(exchange: Exchange, user?: string): Author {
  return authorIn(exchange, user === undefined ? anonymous : { ...anonymous, user });
}

/** Postern itself, as the author of something that a request caused. */
export function systemIn(exchange: Exchange): Author {
  return authorIn(exchange, system);
}

/** An actor, as the author of something that a request caused. */
export function authorIn(exchange: Exchange, actor: Actor): Author {
  return { actor, origin: originOf(exchange) };
}

/** The origin of a request, as audit events state it. */
export function originOf({ address, id: requestId, head }: Exchange): Author['origin'] {
  const userAgent = head.userAgent === '' ? undefined : head.userAgent.slice(0, maxUserAgentLength);
  return { address, userAgent, requestId };
}
