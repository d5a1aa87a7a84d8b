import type { Config } from '../config/sections/schema.ts';
import { Admission, type Strangers } from '../forward-auth/admission.ts';
import { type Askers, askersOf } from '../forward-auth/question.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import type { ListenerParts } from './http-listener.ts';

/** Dependencies of listeners for decisions. */
export interface DecisionListenerParts extends ListenerParts {
  readonly metrics: GatewayMetrics;
  /** True if the process has file descriptors for one more connection of a proxy. */
  readonly hasRoom: () => boolean;
  /** Connections of peers that may not ask for decisions, on all listeners. */
  readonly strangers: Strangers;
}

/** The proxies that may ask for decisions on one listener of `forward_auth`, and their open connections. */
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

  /** Switches to the proxies and limits of another configuration. */
  apply(config: Config): void {
    this.askers = askersOf(config.forward_auth[this.index]!, config);
    this.#mostConnections = config.limits.connections;
    this.admission.peersChanged();
  }
}
