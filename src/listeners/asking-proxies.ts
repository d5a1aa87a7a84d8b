import type { Config } from '../config/sections/schema.ts';
import { Admission, type Strangers } from '../forward-auth/admission.ts';
import { type Askers, askersOf } from '../forward-auth/question.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import type { ListenerParts } from './http-listener.ts';

/** Dependencies of listeners for decisions. */
export interface DecisionListenerParts extends ListenerParts {
  readonly metrics: GatewayMetrics;
  /** True if one more connection of a proxy may be open. */
  readonly hasRoom: () => boolean;
  /** Connections of peers that may not ask, on all listeners. */
  readonly strangers: Strangers;
}

/** The proxies that may ask on one listener of `forward_auth`, and their open connections. */
export class AskingProxies {
  /** Position of the listener in `forward_auth`. */
  readonly index: number;
  readonly admission: Admission;
  askers: Askers;
  #mostConnections: number;

  constructor(config: Config, index: number, parts: DecisionListenerParts) {
    const { hasRoom, onConnectionRefused, strangers } = parts;
    this.index = index;
    this.askers = askersOf(config.forward_auth[index]!, config);
    this.#mostConnections = config.limits.connections;
    this.admission = new Admission({
      isProxy: (address) => this.mayAsk(address),
      mostConnections: () => this.#mostConnections,
      hasRoom,
      onRefused: () => onConnectionRefused('limit'),
      strangers,
    });
  }

  mayAsk(address: string): boolean {
    return this.askers.proxies.isTrusted(address);
  }

  /** Admits the proxies of another configuration from now on. */
  apply(config: Config): void {
    this.askers = askersOf(config.forward_auth[this.index]!, config);
    this.#mostConnections = config.limits.connections;
    this.admission.peersChanged();
  }
}
