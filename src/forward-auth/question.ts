import type { Config, DecisionListenerConfig } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { createTrustedProxies, describedAddress, type TrustedProxies } from '../http/client-address.ts';
import { type CreateExchange, Exchange } from '../http/exchange.ts';
import { readDescribed } from './described-request.ts';
import type { Mode } from './modes.ts';

/** Who may ask, and whose addresses are no client's. */
export interface Askers {
  readonly proxies: TrustedProxies;
  /** These, and `trusted_proxies`. */
  readonly ours: TrustedProxies;
}

/** Who may ask on a listener. */
export function askersOf({ proxies }: DecisionListenerConfig, { trusted_proxies }: Config): Askers {
  return {
    proxies: createTrustedProxies(proxies),
    ours: createTrustedProxies([...proxies, ...trusted_proxies]),
  };
}

/**
 * Creates exchanges of which method, target and address are those of the request that a proxy asks about. One from a
 * peer that may not ask, or that describes nothing that can be judged, is unfit, and stays what it was received as.
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
