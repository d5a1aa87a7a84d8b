import type { AddressInfo } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { longExchangeTargets } from '../endpoints/provider-paths.ts';
import type { Refusal } from '../errors.ts';
import type { CurrentGateway } from '../gateway/current-gateway.ts';
import { createTrustedProxies } from '../http/client-address.ts';
import { hstsFields } from '../http/hsts.ts';
import {
  type ConnectionRefusal,
  PublicServer,
  type ServerLimits,
  type ServerSettings,
} from '../http/public-server.ts';
import { unreadableReason } from '../http/refusal-reason.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { Log } from '../log/log.ts';
import type { CountedRefusals } from '../runtime/counted-refusals.ts';
import type { Engine } from '../runtime/engine.ts';
import type { GatewayMetrics } from '../runtime/metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { FailedHandshakes } from './failed-handshakes.ts';
import { recordFinished } from './finished-exchange.ts';
import { traceExchange } from './request-spans.ts';

/** What the listener hands exchanges to, and where it reports them. */
export interface ListenerParts {
  readonly engine: Engine;
  readonly current: CurrentGateway;
  readonly log: Log;
  readonly refusals: Pick<CountedRefusals, 'count'>;
  readonly metrics: GatewayMetrics;
  /** Called when a connection is closed before its first byte. */
  readonly onConnectionRefused: (why: ConnectionRefusal) => void;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/** A body's rate is an average, and says nothing of its first seconds. */
const bodyJudgedAfterMs = 30_000;

/** The public listener, which survives reloads: its server, and what is recorded of every request. */
export class PublicListener {
  readonly #parts: ListenerParts;
  readonly #server: PublicServer;
  readonly #handshakes: FailedHandshakes;

  /** `tls`: null for plain HTTP. */
  constructor(config: Config, tls: ListenerTls | null, parts: ListenerParts) {
    this.#parts = parts;
    this.#handshakes = new FailedHandshakes(parts.log, parts.metrics.registry);
    this.#server = this.#createServer(config, tls);
  }

  /** As {@link PublicServer.sockets}. */
  get sockets(): number {
    return this.#server.sockets;
  }

  /** As {@link PublicServer.limitConnections}; until another configuration is applied. */
  limitConnections(count: number): void {
    this.#server.limitConnections(count);
  }

  /** As {@link PublicServer.listen}. */
  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo> {
    return this.#server.listen(host, port, isShared);
  }

  /** Serves by another configuration from now on, with that certificate. */
  apply(config: Config, tls: ListenerTls | null): void {
    if (tls !== null) this.#server.renewTls(tls);
    this.#server.apply(serverSettings(config));
  }

  /** As {@link PublicServer.renewTls}. */
  renewTls(tls: ListenerTls): void {
    this.#server.renewTls(tls);
  }

  /** Counts a failed handshake of another listener, too. */
  countFailedHandshake(failure: HandshakeFailure): void {
    this.#handshakes.count(failure);
  }

  /** Responses say `Connection: close` from now on. */
  announceClose(): void {
    this.#server.announceClose();
  }

  /** Takes no more connections and lets exchanges finish for `timeoutMs`; what is left then is reset. */
  async drain(timeoutMs: number): Promise<void> {
    await this.#server.drain(timeoutMs);
  }

  /** Logs what has not been logged yet. */
  close(): void {
    this.#handshakes.close();
  }

  #createServer(config: Config, tls: ListenerTls | null): PublicServer {
    const { current, tracing, onConnectionRefused } = this.#parts;
    return new PublicServer({
      ...serverSettings(config),
      createListener: this.#parts.engine.createListener,
      realm: config.tenant,
      tls,
      onExchange(exchange) {
        if (tracing === null) current.handle(exchange);
        else traceExchange(tracing, exchange, () => current.handle(exchange));
      },
      onRefused(exchange, refusal) {
        if (tracing === null) current.refuse(exchange, refusal);
        else traceExchange(tracing, exchange, () => current.refuse(exchange, refusal));
      },
      onClosed: (exchange) => recordFinished(exchange, this.#parts),
      onConnectionRefused,
      onUnreadable: (...unreadable) => this.#recordUnreadable(...unreadable),
      refuseBegun: (request, refusal) => current.refuseBegun(request, refusal),
      onHandshakeFailed: (failure) => this.#handshakes.count(failure),
    });
  }

  #recordUnreadable(refusal: Refusal, address: string, requestId: string): void {
    const { log, metrics } = this.#parts;
    const { status, code } = refusal;
    metrics.requests.unreadable(status, code);
    const reason = unreadableReason(refusal);
    log.info('request could not be read', { outcome: code, reason, status, address, request_id: requestId });
  }
}

function serverSettings({ limits, identity_providers, trusted_proxies, listen }: Config): ServerSettings {
  return {
    limits: serverLimits(limits),
    longTargets: longExchangeTargets(Object.keys(identity_providers)),
    proxies: createTrustedProxies(trusted_proxies),
    unreadableFields: listen.hsts ? hstsFields : [],
  };
}

/** The limits of a listener, as the configuration has them. */
export function serverLimits(limits: Config['limits']): ServerLimits {
  return {
    connections: limits.connections,
    connectionsPerAddress: limits.connections_per_address,
    targetBytes: limits.target_bytes,
    headerBytes: limits.header_bytes,
    headerCount: limits.header_count,
    headerTimeoutMs: limits.header_timeout,
    bodyIdleTimeoutMs: limits.body_idle_timeout,
    bodyJudgedAfterMs,
    writeIdleTimeoutMs: limits.write_idle_timeout,
    keepAliveTimeoutMs: limits.keep_alive_timeout,
    requestsPerConnection: limits.requests_per_connection,
  };
}
