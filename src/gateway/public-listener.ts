import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema.ts';
import { longExchangeTargets } from '../endpoints/provider-paths.ts';
import type { Refusal } from '../errors.ts';
import { type CertificateFiles, watchCertificate } from '../http/certificate-files.ts';
import { createTrustedProxies } from '../http/client-address.ts';
import { PublicServer, type ServerSettings } from '../http/public-server.ts';
import { unreadableReason } from '../http/refusal-reason.ts';
import type { CertificatePair } from '../http1/server.ts';
import type { Log } from '../log/log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { CountedRefusals } from './counted-refusals.ts';
import type { CurrentGateway } from './current-gateway.ts';
import type { Engine } from './engine.ts';
import { recordFinished } from './finished-exchange.ts';
import type { GatewayMetrics } from './metrics.ts';
import { traceExchange } from './request-spans.ts';

/** What the listener hands exchanges to, and where it reports them. */
export interface ListenerParts {
  readonly engine: Engine;
  readonly current: CurrentGateway;
  readonly log: Log;
  readonly refusals: Pick<CountedRefusals, 'count'>;
  readonly metrics: GatewayMetrics;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
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
  #certificate: CertificateFiles | null;

  /** Throws when the certificate files can't be used. */
  constructor(config: Config, parts: ListenerParts) {
    this.#parts = parts;
    this.#certificate = this.#watchCertificate(config);
    this.#server = this.#createServer(config, this.#certificate?.current ?? null);
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return this.#server.listen(host, port);
  }

  /** Loads the certificate of another configuration; throws, with nothing changed, when its files can't be used. */
  prepare(config: Config): PreparedListener {
    const certificate = this.#watchCertificate(config);
    return {
      apply: () => {
        this.#certificate?.close();
        this.#certificate = certificate;
        if (certificate !== null) this.#server.renewCertificate(certificate.current);
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

  /** Stops watching the certificate files. */
  close(): void {
    this.#certificate?.close();
  }

  #createServer(config: Config, tls: CertificatePair | null): PublicServer {
    const { current, tracing } = this.#parts;
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
      onUnreadable: (...unreadable) => this.#recordUnreadable(...unreadable),
    });
  }

  #recordUnreadable(refusal: Refusal, address: string, requestId: string): void {
    const { log, metrics } = this.#parts;
    const { status, code } = refusal;
    metrics.requests.unreadable(status, code);
    const reason = unreadableReason(refusal);
    log.info('request could not be read', { outcome: code, reason, status, address, request_id: requestId });
  }

  #watchCertificate({ listen: { tls } }: Config): CertificateFiles | null {
    if (tls === undefined) return null;
    const { log, metrics } = this.#parts;
    return watchCertificate(tls, {
      onChange: (renewed) => {
        this.#server.renewCertificate(renewed);
        metrics.reloaded('certificate', 'applied');
        log.info('certificate renewed');
      },
      onError: (error) => {
        metrics.reloaded('certificate', 'failed');
        log.error('certificate reload failed', { err: error });
      },
    });
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
