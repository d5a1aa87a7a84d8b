import type { Config } from '../config/sections/schema.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { type CertificateParts, WatchedCertificate } from './watched-certificate.ts';

/** TLS settings by listener: the one for clients first, then those of `forward_auth`; null for plain HTTP. */
export type ListenersTls = readonly (ListenerTls | null)[];

/** The loaded certificates of another configuration; the caller has to call either `apply` or `discard`. */
export interface PreparedCertificates {
  readonly tls: ListenersTls;
  apply(): void;
  discard(): void;
}

/** The certificates of one configuration, in the order of {@link ListenersTls}. */
type Watched = readonly (WatchedCertificate | null)[];

/** The certificates of all listeners under the current configuration. */
export class ListenerCertificates {
  readonly #parts: CertificateParts;
  readonly #onRenewed: (tls: ListenersTls) => void;
  #watched: Watched;

  /** Loads the certificates; calls `onRenewed` whenever others come into use. Throws if the files can't be used. */
  constructor(
    config: Config,
    { registry, ...parts }: CertificateParts & { readonly registry: MetricsRegistry },
    onRenewed: (tls: ListenersTls) => void,
  ) {
    this.#parts = parts;
    this.#onRenewed = onRenewed;
    this.#watched = this.#load(config);
    registry.gaugeBy(
      'file',
      'certificate_expiry_timestamp_seconds',
      'When the first certificate in a file of listen.tls expires, by file: cert, client_ca; and in those of forward_auth.',
      () => this.#watched.flatMap((certificate, index) => expiriesOf(certificate, index)),
    );
  }

  get current(): ListenersTls {
    return settingsOf(this.#watched);
  }

  /** Loads the certificates of another configuration; if the files can't be used, throws and changes nothing. */
  prepare(config: Config): PreparedCertificates {
    const watched = this.#load(config);
    const before = watched.map((certificate) => certificate?.current);
    return {
      tls: settingsOf(watched),
      apply: () => {
        close(this.#watched);
        this.#watched = watched;
        if (watched.some((certificate, index) => certificate?.current !== before[index]))
          this.#onRenewed(this.current);
      },
      discard: () => close(watched),
    };
  }

  close(): void {
    close(this.#watched);
  }

  #load({ listen, forward_auth }: Config): Watched {
    const loaded: (WatchedCertificate | null)[] = [];
    const onRenewed = () => {
      if (loaded === this.#watched) this.#onRenewed(this.current);
    };
    try {
      for (const [index, { tls }] of [listen, ...forward_auth].entries())
        loaded.push(
          tls === undefined ? null : new WatchedCertificate(listenerKey(index), tls, this.#parts, onRenewed),
        );
    } catch (error) {
      close(loaded);
      throw error;
    }
    return loaded;
  }
}

/** Key of a listener in the configuration; `index` is that of its settings in {@link ListenersTls}. */
export function listenerKey(index: number): string {
  return index === 0 ? 'listen' : `forward_auth[${index - 1}]`;
}

function expiriesOf(
  certificate: WatchedCertificate | null,
  index: number,
): [file: string, seconds: number][] {
  const expiries = certificate?.expiries() ?? [];
  return expiries.map(([file, seconds]) => [
    index === 0 ? file : `${listenerKey(index)}.tls.${file}`,
    seconds,
  ]);
}

function settingsOf(watched: Watched): ListenersTls {
  return watched.map((certificate) => certificate?.current ?? null);
}

function close(certificates: Watched): void {
  for (const certificate of certificates) certificate?.close();
}
