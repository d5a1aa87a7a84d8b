import type { Config } from '../config/schema.ts';
import type { ListenerTls } from '../http1/tls-settings.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { type CertificateParts, ListenerCertificate } from './listener-certificate.ts';

/** The certificate of another configuration, loaded; exactly one of the two functions is called. */
export interface PreparedCertificate {
  /** Null for plain HTTP. */
  readonly tls: ListenerTls | null;
  /** It is the one to watch from now on. */
  apply(): void;
  discard(): void;
}

/** The certificate of the public listener over all configurations: one is watched at a time. */
export class ListenerCertificates {
  readonly #parts: CertificateParts;
  readonly #onRenewed: (tls: ListenerTls) => void;
  #certificate: ListenerCertificate | null;

  /** Calls `onRenewed` whenever the watched files hold another valid certificate; throws when the files can't be used. */
  constructor(
    config: Config,
    { registry, ...parts }: CertificateParts & { readonly registry: MetricsRegistry },
    onRenewed: (tls: ListenerTls) => void,
  ) {
    this.#parts = parts;
    this.#onRenewed = onRenewed;
    this.#certificate = this.#load(config);
    registry.gaugeBy(
      'file',
      'certificate_expiry_timestamp_seconds',
      'When the first certificate in a file of listen.tls expires, by file: cert, client_ca.',
      () => this.#certificate?.expiries() ?? [],
    );
  }

  /** Null for plain HTTP. */
  get current(): ListenerTls | null {
    return this.#certificate?.current ?? null;
  }

  /** Loads the certificate of another configuration; throws, with nothing changed, when its files can't be used. */
  prepare(config: Config): PreparedCertificate {
    const certificate = this.#load(config);
    const tls = certificate?.current ?? null;
    return {
      tls,
      apply: () => {
        this.#certificate?.close();
        this.#certificate = certificate;
        if (certificate !== null && certificate.current !== tls) this.#onRenewed(certificate.current);
      },
      discard: () => certificate?.close(),
    };
  }

  /** Stops watching. */
  close(): void {
    this.#certificate?.close();
  }

  #load({ listen: { tls } }: Config): ListenerCertificate | null {
    if (tls === undefined) return null;
    const certificate: ListenerCertificate = new ListenerCertificate(tls, this.#parts, (renewed) => {
      if (certificate === this.#certificate) this.#onRenewed(renewed);
    });
    return certificate;
  }
}
