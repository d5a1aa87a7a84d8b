import type { AddressInfo } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import type { Refusal } from '../errors.ts';
import { Admission, type Strangers } from '../forward-auth/admission.ts';
import { type Mode, modes, refusalShapeOf } from '../forward-auth/modes.ts';
import { type Askers, askersOf, createQuestionReader } from '../forward-auth/question.ts';
import { createTrustedProxies } from '../http/client-address.ts';
import { PublicServer, type ServerSettings } from '../http/public-server.ts';
import { unreadableReason } from '../http/refusal-reason.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import { recordDecided } from './finished-exchange.ts';
import { type ListenerParts, serverLimits } from './public-listener.ts';
import { traceExchange } from './request-spans.ts';

/** Parts of the public listener, and those that listeners for decisions share. */
export interface DecisionListenerParts extends ListenerParts {
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
  /** True if one more connection of a proxy may be open. */
  readonly hasRoom: () => boolean;
  /** Connections of peers that may not ask, of all listeners. */
  readonly strangers: Strangers;
}

/** One listener of `forward_auth`, which survives reloads. */
export interface OneDecisionListener {
  /** Open sockets of proxies. */
  readonly sockets: number;
  /** `isShared` as for the public listener. */
  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo>;
  /** Serves by another configuration from now on, with that certificate. */
  apply(config: Config, tls: ListenerTls | null): void;
  /** Uses this certificate for new connections. */
  renewTls(tls: ListenerTls): void;
  announceClose(): void;
  drain(timeoutMs: number): Promise<void>;
}

/** A listener that is asked over HTTP/1.1; `index` is its position in `forward_auth`. */
export class DecisionListener implements OneDecisionListener {
  readonly #index: number;
  readonly #mode: Mode;
  readonly #parts: DecisionListenerParts;
  readonly #server: PublicServer;
  readonly #admission: Admission;
  #askers: Askers;
  #mostConnections: number;

  /** `tls`: null for plain HTTP. */
  constructor(config: Config, index: number, tls: ListenerTls | null, parts: DecisionListenerParts) {
    const settings = config.forward_auth[index]!;
    this.#index = index;
    this.#mode = modes[settings.mode];
    this.#parts = parts;
    this.#askers = askersOf(settings, config);
    this.#mostConnections = config.limits.connections;
    this.#admission = new Admission({
      isProxy: (address) => this.#askers.proxies.isTrusted(address),
      mostConnections: () => this.#mostConnections,
      hasRoom: parts.hasRoom,
      onRefused: () => parts.onConnectionRefused('limit'),
      strangers: parts.strangers,
    });
    this.#server = this.#createServer(config, tls);
  }

  get sockets(): number {
    return this.#admission.connections;
  }

  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo> {
    return this.#server.listen(host, port, isShared);
  }

  apply(config: Config, tls: ListenerTls | null): void {
    if (tls !== null) this.#server.renewTls(tls);
    this.#askers = askersOf(config.forward_auth[this.#index]!, config);
    this.#mostConnections = config.limits.connections;
    this.#server.apply(serverSettings(config));
    this.#admission.peersChanged();
  }

  renewTls(tls: ListenerTls): void {
    this.#server.renewTls(tls);
  }

  announceClose(): void {
    this.#server.announceClose();
  }

  drain(timeoutMs: number): Promise<void> {
    return this.#server.drain(timeoutMs);
  }

  #createServer(config: Config, tls: ListenerTls | null): PublicServer {
    const { current, tracing, engine, onConnectionRefused, onHandshakeFailed } = this.#parts;
    const mode = this.#mode;
    return new PublicServer({
      ...serverSettings(config),
      createListener: engine.createListener,
      realm: config.tenant,
      tls,
      admits: (socket) => this.#admission.admits(socket),
      createExchange: createQuestionReader(mode, () => this.#askers),
      refusalShape: refusalShapeOf(mode),
      onExchange: (exchange) => {
        if (tracing === null) current.decide(exchange, this.#index);
        else traceExchange(tracing, exchange, () => current.decide(exchange, this.#index));
      },
      onRefused: (exchange, refusal) => {
        if (tracing === null) current.refuse(exchange, refusal, this.#index);
        else traceExchange(tracing, exchange, () => current.refuse(exchange, refusal, this.#index));
      },
      onClosed: (exchange) => recordDecided(exchange, mode.name, this.#parts),
      onConnectionRefused,
      onUnreadable: (...unreadable) => this.#recordUnreadable(...unreadable),
      onHandshakeFailed,
    });
  }

  #recordUnreadable(refusal: Refusal, address: string, requestId: string): void {
    const { log, metrics } = this.#parts;
    const { name } = this.#mode;
    const { status, code } = refusal;
    metrics.decisions.unreadable(name, code);
    const reason = unreadableReason(refusal);
    const about = { outcome: code, reason, status, forward_auth: name, address, request_id: requestId };
    log.info('request could not be read', about);
  }
}

/** Settings without limits on connections: proxies open many from few addresses, and the admission limits their number. */
function serverSettings({ limits }: Config): ServerSettings {
  return {
    limits: { ...serverLimits(limits), connections: Number.MAX_SAFE_INTEGER, connectionsPerAddress: 0 },
    proxies: createTrustedProxies([]),
  };
}
