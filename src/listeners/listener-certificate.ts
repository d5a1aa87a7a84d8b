import { firstExpiry, type UntimelyCertificate, untimely } from '../config/values/certificates.ts';
import {
  type CertificateFiles,
  type ListenerFiles,
  type LoadedTls,
  watchCertificate,
} from '../http/certificate-files.ts';
import type { Log } from '../log/log.ts';
import type { ReloadMetrics } from '../runtime/reload-metrics.ts';

/** What it reports to. */
export interface CertificateParts {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly reloads: Pick<ReloadMetrics, 'reloaded'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

type Untimely = UntimelyCertificate & { readonly file: 'cert' | 'client_ca' };

/** How often it is checked whether a certificate has come to its end, ms. */
const checkIntervalMs = 1_000;

/**
 * The TLS files of one listener, watched: what becomes of them, and of the time that their certificates have, is in
 * the log. What a start or another configuration finds is not: the warnings of the configuration say so already.
 */
export class ListenerCertificate {
  readonly #files: CertificateFiles;
  readonly #parts: CertificateParts;
  /** Its key in the configuration. */
  readonly #section: string;
  readonly #timer: NodeJS.Timeout;
  /** Those that have been reported. */
  #untimely: readonly Untimely[];

  /** Calls `onRenewed` whenever the files hold something else that is valid; throws as {@link watchCertificate} does. */
  constructor(
    section: string,
    files: ListenerFiles,
    parts: CertificateParts,
    onRenewed: (tls: LoadedTls) => void,
  ) {
    this.#section = section;
    this.#parts = parts;
    const { log, reloads } = parts;
    this.#files = watchCertificate(files, {
      onChange: (tls) => {
        onRenewed(tls);
        reloads.reloaded('certificate', 'applied');
        this.#reportRenewal(tls);
      },
      onError: (error) => {
        reloads.reloaded('certificate', 'failed');
        log.error('certificate reload failed', { err: error });
      },
    });
    this.#untimely = this.#untimelyNow(this.current);
    this.#timer = setInterval(() => this.#check(), checkIntervalMs).unref();
  }

  get current(): LoadedTls {
    return this.#files.current;
  }

  /** When the first certificate in each file expires, epoch seconds. */
  expiries(): [file: string, seconds: number][] {
    const { chain, authorities } = this.current;
    const expiries: [string, number][] = [['cert', firstExpiry(chain) / 1000]];
    if (authorities.length > 0) expiries.push(['client_ca', firstExpiry(authorities) / 1000]);
    return expiries;
  }

  /** Stops watching. */
  close(): void {
    clearInterval(this.#timer);
    this.#files.close();
  }

  #reportRenewal(tls: LoadedTls): void {
    this.#untimely = this.#untimelyNow(tls);
    const validUntil = new Date(firstExpiry(tls.chain)).toISOString();
    if (this.#untimely.length === 0) this.#parts.log.info('certificate renewed', { valid_until: validUntil });
    for (const found of this.#untimely) this.#report('certificate replaced by one that', found);
  }

  /** Reports what has expired, or is not valid any more because the clock was set, since the last check. */
  #check(): void {
    const known = new Set(this.#untimely.map(keyOf));
    this.#untimely = this.#untimelyNow(this.current);
    for (const found of this.#untimely) if (!known.has(keyOf(found))) this.#report('certificate', found);
  }

  #report(beginning: string, { file, problem, subject, at }: Untimely): void {
    this.#parts.log.error(`${beginning} ${problem}`, {
      file: `${this.#section}.${file}`,
      subject,
      at: at.toISOString(),
    });
  }

  #untimelyNow({ chain, authorities }: LoadedTls): Untimely[] {
    const now = this.#parts.now();
    return [
      ...untimely(chain, now).map((found) => ({ ...found, file: 'cert' as const })),
      ...untimely(authorities, now).map((found) => ({ ...found, file: 'client_ca' as const })),
    ];
  }
}

function keyOf({ file, problem, subject, at }: Untimely): string {
  return JSON.stringify([file, problem, subject, at]);
}
