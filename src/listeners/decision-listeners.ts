import type { AddressInfo } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { modes, refusalShapeOf } from '../forward-auth/modes.ts';
import { createQuestionReader } from '../forward-auth/question.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Http1Server } from '../http1/server/server.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import { AskingProxies, type DecisionListenerParts } from './asking-proxies.ts';
import { HttpListener, type ListenerRole } from './http-listener.ts';
import type { ListenersTls } from './listener-certificates.ts';
import { listenerLimits } from './listener-limits.ts';

/** Address of a listener that is to be opened. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

/** A listener of `forward_auth`, which survives reloads. */
interface DecisionListener {
  readonly server: Pick<Http1Server<Exchange>, 'listen' | 'renewTls' | 'announceClose' | 'drain'>;
  apply(config: Config, tls: ListenerTls | null): void;
}

/**
 * Creates the listeners of `forward_auth`; a restart alone adds or removes one. The library for gRPC is loaded only where Envoy
 * asks by it.
 */
export async function createDecisionListeners(
  config: Config,
  tls: ListenersTls,
  parts: DecisionListenerParts,
): Promise<DecisionListeners> {
  const proxies = config.forward_auth.map((_, index) => new AskingProxies(config, index, parts));
  const listeners = await Promise.all(
    proxies.map(async (asking, index): Promise<DecisionListener> => {
      const ownTls = tls.decisions[index] ?? null;
      if (config.forward_auth[index]!.mode !== 'envoy_grpc')
        return createHttpListener(config, asking, ownTls, parts);
      const { GrpcListener } = await import('./grpc-listener.ts');
      return new GrpcListener(config, asking, ownTls, parts);
    }),
  );
  const all = new DecisionListeners(listeners, proxies);
  if (listeners.length > 0)
    parts.metrics.registry.gauge(
      'decision_connections',
      'Open connections of proxies that ask for decisions.',
      () => all.sockets,
    );
  return all;
}

function createHttpListener(
  config: Config,
  proxies: AskingProxies,
  tls: ListenerTls | null,
  parts: DecisionListenerParts,
): HttpListener {
  const { index } = proxies;
  const mode = modes[config.forward_auth[index]!.mode];
  const role: ListenerRole = {
    decidesFor: mode.name,
    adopt: ({ limits }) => ({
      // Proxies open many connections from few addresses; their admission limits the number.
      limits: { ...listenerLimits(limits), connections: Number.MAX_SAFE_INTEGER },
      longTargets: { maxBytes: 0, has: () => false },
      unreadableFields: [],
    }),
    admits: (socket) => proxies.admits(socket),
    createExchange: createQuestionReader(mode, () => proxies.askers),
    refusalShape: refusalShapeOf(mode),
    respond: (exchange, refusal) => parts.current.gateway.decide(exchange, index, refusal),
    refuseBegun: null,
  };
  return new HttpListener(config, tls, role, parts);
}

/** The listeners of `forward_auth`, as one. */
export class DecisionListeners {
  readonly #listeners: readonly DecisionListener[];
  readonly #proxies: readonly AskingProxies[];

  constructor(listeners: readonly DecisionListener[], proxies: readonly AskingProxies[]) {
    this.#listeners = listeners;
    this.#proxies = proxies;
  }

  /** Open connections of proxies, on all of them. */
  get sockets(): number {
    return this.#proxies.reduce((sum, { connections }) => sum + connections, 0);
  }

  /** Opens all of them at these addresses, in the order of the configuration; `isShared` as for {@link Http1Server.listen}. */
  async listen(addresses: readonly ListenerAddress[], isShared: boolean): Promise<AddressInfo[]> {
    const opened: AddressInfo[] = [];
    for (const [index, { host, port }] of addresses.entries())
      opened.push(await this.#listeners[index]!.server.listen(host, port, isShared));
    return opened;
  }

  /** Serves by another configuration from now on, with those certificates. */
  apply(config: Config, { decisions }: ListenersTls): void {
    for (const proxies of this.#proxies) proxies.apply(config);
    for (const [index, listener] of this.#listeners.entries())
      listener.apply(config, decisions[index] ?? null);
  }

  /** Uses these certificates for new connections. */
  renewTls({ decisions }: ListenersTls): void {
    for (const [index, { server }] of this.#listeners.entries()) {
      const tls = decisions[index] ?? null;
      if (tls !== null) server.renewTls(tls);
    }
  }

  announceClose(): void {
    for (const { server } of this.#listeners) server.announceClose();
  }

  async drain(timeoutMs: number): Promise<void> {
    await Promise.all(this.#listeners.map(({ server }) => server.drain(timeoutMs)));
  }
}
