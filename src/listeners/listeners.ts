import type { AddressInfo } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { modes, refusalShapeOf } from '../forward-auth/modes.ts';
import { createQuestionReader } from '../forward-auth/question.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import type { Http1Server } from '../http1/server/server.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import { AskingProxies, type DecisionListenerParts } from './asking-proxies.ts';
import { FailedHandshakes } from './failed-handshakes.ts';
import { HttpListener, type ListenerRole, listenerLimits } from './http-listener.ts';
import { type ListenersTls, listenerKey } from './listener-certificates.ts';
import { createPublicListener } from './public-listener.ts';

/** Address on which a listener is opened. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

interface Listener {
  readonly server: Pick<Http1Server<Exchange>, 'listen' | 'renewTls' | 'announceClose' | 'drain'>;
  apply(config: Config, tls: ListenerTls | null): void;
}

/** Creates all listeners; only a restart adds or removes one. The library for gRPC is loaded only if a listener needs it. */
export async function createListeners(
  config: Config,
  tls: ListenersTls,
  parts: Omit<DecisionListenerParts, 'onHandshakeFailed'>,
): Promise<Listeners> {
  const handshakes = new FailedHandshakes(parts.log, parts.metrics.registry);
  const partsOf = (index: number) => ({
    ...parts,
    onHandshakeFailed: (failure: HandshakeFailure) => handshakes.count(failure, listenerKey(index)),
  });
  const proxies = config.forward_auth.map((_, index) => new AskingProxies(config, index, partsOf(index + 1)));
  const ofProxies = await Promise.all(
    proxies.map(async (asking, index): Promise<Listener> => {
      const ownTls = tls[index + 1] ?? null;
      if (config.forward_auth[index]!.mode !== 'envoy_grpc')
        return createDecisionListener(config, asking, ownTls, partsOf(index + 1));
      const { GrpcListener } = await import('./grpc-listener.ts');
      return new GrpcListener(config, asking, ownTls, partsOf(index + 1));
    }),
  );
  const ofClients = createPublicListener(config, tls[0] ?? null, partsOf(0));
  const listeners = new Listeners(ofClients, ofProxies, proxies, handshakes);
  if (proxies.length > 0)
    parts.metrics.registry.gauge(
      'decision_connections',
      'Open connections of proxies that ask for decisions.',
      () => listeners.decisionSockets,
    );
  return listeners;
}

function createDecisionListener(
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
      // Proxies open many connections from few addresses; `admits` limits the number.
      limits: { ...listenerLimits(limits), connections: Number.MAX_SAFE_INTEGER },
      longTargets: { maxBytes: 0, has: () => false },
      unreadableFields: [],
    }),
    admits: (socket) => proxies.admission.admits(socket),
    createExchange: createQuestionReader(mode, () => proxies.askers),
    refusalShape: refusalShapeOf(mode),
    respond: (exchange, refusal) => parts.current.gateway.decide(exchange, index, refusal),
    refuseBegun: null,
  };
  return new HttpListener(config, tls, role, parts);
}

/** All listeners except the management listener: the one for clients, then those of `forward_auth` in their order. */
export class Listeners {
  readonly clients: Http1Server<Exchange>;
  readonly #all: readonly Listener[];
  readonly #proxies: readonly AskingProxies[];
  readonly #handshakes: FailedHandshakes;

  constructor(
    ofClients: HttpListener,
    ofProxies: readonly Listener[],
    proxies: readonly AskingProxies[],
    handshakes: FailedHandshakes,
  ) {
    this.clients = ofClients.server;
    this.#all = [ofClients, ...ofProxies];
    this.#proxies = proxies;
    this.#handshakes = handshakes;
  }

  get decisionSockets(): number {
    return this.#proxies.reduce((sum, { admission }) => sum + admission.connections, 0);
  }

  /** Opens the listeners at these addresses, in order; `isShared` as for {@link Http1Server.listen}. */
  async listen(addresses: readonly ListenerAddress[], isShared: boolean): Promise<AddressInfo[]> {
    const opened: AddressInfo[] = [];
    for (const [index, { host, port }] of addresses.entries())
      opened.push(await this.#all[index]!.server.listen(host, port, isShared));
    return opened;
  }

  apply(config: Config, tls: ListenersTls): void {
    for (const proxies of this.#proxies) proxies.apply(config);
    for (const [index, listener] of this.#all.entries()) listener.apply(config, tls[index] ?? null);
  }

  /** Uses these certificates for new connections. */
  renewTls(tls: ListenersTls): void {
    for (const [index, { server }] of this.#all.entries()) {
      const own = tls[index] ?? null;
      if (own !== null) server.renewTls(own);
    }
  }

  announceClose(): void {
    for (const { server } of this.#all) server.announceClose();
  }

  /** Stops accepting connections and resolves when all exchanges have finished; after `timeoutMs` the rest are reset. */
  async drain(timeoutMs: number): Promise<void> {
    await Promise.all(this.#all.map(({ server }) => server.drain(timeoutMs)));
  }

  close(): void {
    this.#handshakes.close();
  }
}
