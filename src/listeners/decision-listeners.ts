import type { AddressInfo } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import {
  DecisionListener,
  type DecisionListenerParts,
  type OneDecisionListener,
} from './decision-listener.ts';
import type { ListenersTls } from './listener-certificates.ts';

/** Where a listener is to be opened. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The listeners of `forward_auth`; a restart alone adds or removes one. Only where Envoy asks by gRPC, its library is loaded.
 */
export async function createDecisionListeners(
  config: Config,
  tls: ListenersTls,
  parts: DecisionListenerParts,
): Promise<DecisionListeners> {
  const listeners = await Promise.all(
    config.forward_auth.map(async ({ mode }, index): Promise<OneDecisionListener> => {
      const ownTls = tls.decisions[index] ?? null;
      if (mode !== 'envoy_grpc') return new DecisionListener(config, index, ownTls, parts);
      const { CheckListener } = await import('./check-listener.ts');
      return new CheckListener(config, index, ownTls, parts);
    }),
  );
  return new DecisionListeners(listeners, parts.metrics);
}

/** The listeners of `forward_auth`, as one. */
export class DecisionListeners {
  readonly #listeners: readonly OneDecisionListener[];

  constructor(listeners: readonly OneDecisionListener[], { registry }: Pick<GatewayMetrics, 'registry'>) {
    this.#listeners = listeners;
    if (listeners.length === 0) return;
    registry.gauge(
      'decision_connections',
      'Open connections of proxies that ask for decisions.',
      () => this.sockets,
    );
  }

  /** Open sockets of all of them. */
  get sockets(): number {
    return this.#listeners.reduce((sum, listener) => sum + listener.sockets, 0);
  }

  /** Opens all of them at these addresses, in the order of the configuration; `isShared` as for the public listener. */
  async listen(addresses: readonly ListenerAddress[], isShared: boolean): Promise<AddressInfo[]> {
    const opened: AddressInfo[] = [];
    for (const [index, { host, port }] of addresses.entries())
      opened.push(await this.#listeners[index]!.listen(host, port, isShared));
    return opened;
  }

  /** Serves by another configuration from now on, with those certificates. */
  apply(config: Config, { decisions }: ListenersTls): void {
    for (const [index, listener] of this.#listeners.entries())
      listener.apply(config, decisions[index] ?? null);
  }

  /** Uses these certificates for new connections. */
  renewTls({ decisions }: ListenersTls): void {
    for (const [index, listener] of this.#listeners.entries()) {
      const tls = decisions[index] ?? null;
      if (tls !== null) listener.renewTls(tls);
    }
  }

  announceClose(): void {
    for (const listener of this.#listeners) listener.announceClose();
  }

  async drain(timeoutMs: number): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.drain(timeoutMs)));
  }
}
