import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema.ts';
import { longExchangeTargets } from '../endpoints/provider-paths.ts';
import type { Refusal } from '../errors.ts';
import { createTrustedProxies } from '../http/client-address.ts';
import { type ConnectionRefusal, PublicServer, type ServerSettings } from '../http/public-server.ts';
import { unreadableReason } from '../http/refusal-reason.ts';
import type { ListenerTls } from '../http1/tls-settings.ts';
import type { Log } from '../log/log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { CountedRefusals } from './counted-refusals.ts';
import type { CurrentGateway } from './current-gateway.ts';
import type { Engine } from './engine.ts';
import { FailedHandshakes } from './failed-handshakes.ts';
import { recordFinished } from './finished-exchange.ts';
import { ListenerCertificate } from './listener-certificate.ts';
import type { GatewayMetrics } from './metrics.ts';
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

/** Another configuration of the listener, with its certificate loaded; exactly one of the two is called. */
export interface PreparedListener {
  /** Serves by it from now on. */
  apply(): void;
  discard(): void;
}

/** A body's rate is an average, and says nothing of its first seconds. */
const bodyJudgedAfterMs = 30_000;

/** The public listener, which survives reloads: its server, its certificate, and what is recorded of every request. */
export class PublicListener {
  readonly #parts: ListenerParts;
  readonly #server: PublicServer;
  readonly #handshakes: FailedHandshakes;
  #certificate: ListenerCertificate | null;

  /** Throws when the certificate files can't be used. */
  constructor(config: Config, parts: ListenerParts) {
    this.#parts = parts;
    const { registry } = parts.metrics;
    this.#handshakes = new FailedHandshakes(parts.log, registry);
    this.#certificate = this.#loadCertificate(config);
    registry.gaugeBy(
      'file',
      'certificate_expiry_timestamp_seconds',
      'When the first certificate in a file of listen.tls expires, by file: cert, client_ca.',
      () => this.#certificate?.expiries() ?? [],
    );
    this.#server = this.#createServer(config, this.#certificate?.current ?? null);
  }

  /** As {@link PublicServer.sockets}. */
  get sockets(): number {
    return this.#server.sockets;
  }

  /** As {@link PublicServer.limitConnections}; until another configuration is applied. */
  limitConnections(count: number): void {
    this.#server.limitConnections(count);
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return this.#server.listen(host, port);
  }

  /** Loads the certificate of another configuration; throws, with nothing changed, when its files can't be used. */
  prepare(config: Config): PreparedListener {
    const certificate = this.#loadCertificate(config);
    return {
      apply: () => {
        this.#certificate?.close();
        this.#certificate = certificate;
        if (certificate !== null) this.#server.renewTls(certificate.current);
        this.#server.apply(serverSettings(config));
      },
      discard: () => certificate?.close(),
    };
  }

  /** Responses say `Connection: close` from now on. */
  announceClose(): void {
    this.#server.announceClose();
  }

  /** Takes no more connections and lets exchanges finish for `timeoutMs`; what is left then is reset. */
  async drain(timeoutMs: number): Promise<void> {
    await this.#server.drain(timeoutMs);
  }

  /** Stops watching the certificate files, and logs what has not been logged yet. */
  close(): void {
    this.#certificate?.close();
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

  #loadCertificate({ listen: { tls } }: Config): ListenerCertificate | null {
    if (tls === undefined) return null;
    return new ListenerCertificate(tls, this.#parts, (renewed) => this.#server.renewTls(renewed));
  }
}

function serverSettings({ limits, identity_providers, trusted_proxies }: Config): ServerSettings {
  return {
    limits: {
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
    },
    longTargets: longExchangeTargets(Object.keys(identity_providers)),
    proxies: createTrustedProxies(trusted_proxies),
  };
}
