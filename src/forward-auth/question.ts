import type { Config, DecisionListenerConfig } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { createTrustedProxies, describedAddress, type TrustedProxies } from '../http/client-address.ts';
import { type CreateExchange, Exchange } from '../http/exchange.ts';
import { readDescribed } from './described-request.ts';
import type { Mode } from './modes.ts';

/** Peers that may ask, and addresses that are no client's. */
export interface Askers {
  readonly proxies: TrustedProxies;
  /** The peers that may ask, and `trusted_proxies`. */
  readonly ours: TrustedProxies;
}

/** The askers of a listener. */
export function askersOf({ proxies }: DecisionListenerConfig, { trusted_proxies }: Config): Askers {
  return {
    proxies: createTrustedProxies(proxies),
    ours: createTrustedProxies([...proxies, ...trusted_proxies]),
  };
}

/**
 * Creates exchanges with method, target and address of the request that a proxy asks about. An exchange of a peer that may not
 * ask, or without a usable description, is unfit, and keeps its own method and target.
 */
export function createQuestionReader(mode: Mode, askers: () => Askers): CreateExchange {
  return (channel, response, head, text) => {
    const { proxies, ours } = askers();
    if (!proxies.isTrusted(channel.peer)) {
      const unknown = new Refusal('address_not_allowed', { close: true });
      return new Exchange(channel, response, head, text, channel.peer, false, unknown);
    }
    const address = describedAddress(head.forwardedFor, ours);
    try {
      const described = { ...readDescribed(mode, text), minor: text.minor };
      return new Exchange(channel, response, head, described, address, true);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return new Exchange(channel, response, head, text, address, true, error);
    }
  };
}
