import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema.ts';
import { DecisionListener, type DecisionListenerParts } from './decision-listener.ts';
import type { ListenersTls } from './listener-certificates.ts';

/** Where a listener is to be opened. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

/** The listeners of `forward_auth`; a restart alone adds or removes one. */
export class DecisionListeners {
  readonly #listeners: readonly DecisionListener[];

  constructor(config: Config, tls: ListenersTls, parts: DecisionListenerParts) {
    this.#listeners = config.forward_auth.map(
      (_, index) => new DecisionListener(config, index, tls.decisions[index] ?? null, parts),
    );
    if (this.#listeners.length === 0) return;
    parts.metrics.registry.gauge(
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
