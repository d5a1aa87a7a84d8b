import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  certificatesOf,
  firstExpiry,
  haveRoot,
  type UntimelyCertificate,
  untimely,
} from '../config/values/certificates.ts';
import { contextOptions, type ListenerTls } from '../http1/server/tls-settings.ts';
import type { Log } from '../log/log.ts';
import type { ReloadMetrics } from '../runtime/reload-metrics.ts';
import { WatchedFiles } from '../runtime/watched-files.ts';
import { onTicks } from '../ticks.ts';

/** Dependencies of {@link WatchedCertificate}. */
export interface CertificateParts {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly reloads: Pick<ReloadMetrics, 'reloaded'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/** The TLS files of a listener; with `client_ca`, clients are asked for a certificate, or required to present one. */
interface ListenerFiles {
  readonly cert: string;
  readonly key: string;
  readonly client_ca?: string | undefined;
  readonly client_certificate: 'request' | 'require';
}

/** TLS settings loaded from the files of a listener, and the certificates in them. */
interface LoadedTls extends ListenerTls {
  readonly chain: readonly X509Certificate[];
  /** The authorities that verify clients' certificates; empty if clients are not asked for a certificate. */
  readonly authorities: readonly X509Certificate[];
}

type Untimely = UntimelyCertificate & { readonly file: 'cert' | 'client_ca' };

/** Interval of the checks for expired certificates, ms. */
const checkIntervalMs = 1_000;

/**
 * The TLS files of one listener, reloaded when they change, so that a renewal needs no restart. Logs each reload and each
 * certificate that expires, but no problems found by the constructor: the warnings of the configuration report those.
 */
export class WatchedCertificate {
  readonly #files: ListenerFiles;
  readonly #parts: CertificateParts;
  readonly #onRenewed: () => void;
  /** Key of the listener in the configuration. */
  readonly #listener: string;
  readonly #stopChecks: () => void;
  readonly #watched: WatchedFiles;
  #current: LoadedTls;
  /** False while the content of the files can't be used. */
  #isUsable = true;
  #untimely: readonly Untimely[];

  /** Loads the files; calls `onRenewed` whenever their content has changed and is valid. Throws as {@link loadTls} does. */
  constructor(listener: string, files: ListenerFiles, parts: CertificateParts, onRenewed: () => void) {
    this.#listener = listener;
    this.#files = files;
    this.#parts = parts;
    this.#onRenewed = onRenewed;
    this.#current = loadTls(files);
    this.#untimely = this.#untimelyNow();
    this.#watched = new WatchedFiles(this.#paths(), () => this.#reload());
    this.#stopChecks = onTicks(checkIntervalMs, () => this.#check());
  }

  get current(): LoadedTls {
    return this.#current;
  }

  /** Earliest expiry of the certificates in each file, epoch seconds. */
  expiries(): [file: string, seconds: number][] {
    const { chain, authorities } = this.#current;
    const expiries: [string, number][] = [['cert', firstExpiry(chain) / 1000]];
    if (authorities.length > 0) expiries.push(['client_ca', firstExpiry(authorities) / 1000]);
    return expiries;
  }

  close(): void {
    this.#stopChecks();
    this.#watched.close();
  }

  #paths(): string[] {
    const { cert, key, client_ca } = this.#files;
    return client_ca === undefined ? [cert, key] : [cert, key, client_ca];
  }

  #reload(): void {
    try {
      this.#renew();
    } catch (error) {
      // Half-written, or only one file has been replaced so far: the old content stays in use until the files match.
      this.#isUsable = false;
      this.#parts.reloads.reloaded('certificate', 'failed');
      this.#parts.log.error('TLS files could not be reloaded; the previous ones stay in use', {
        listener: this.#listener,
        err: error,
      });
    }
  }

  #renew(): void {
    const { log, reloads } = this.#parts;
    const next = loadTls(this.#files);
    // The old content is reported, too, if it is restored after invalid content.
    if (this.#isUsable && isSameTls(next, this.#current)) return;
    this.#isUsable = true;
    this.#current = next;
    this.#onRenewed();
    reloads.reloaded('certificate', 'applied');
    this.#untimely = this.#untimelyNow();
    const validUntil = new Date(firstExpiry(next.chain)).toISOString();
    if (this.#untimely.length === 0)
      log.info('TLS files reloaded', { listener: this.#listener, certificate_valid_until: validUntil });
    for (const found of this.#untimely) this.#report('reloaded certificate', found);
  }

  /** Reports certificates that have expired since the last check, or aren't valid yet because the clock has been set back. */
  #check(): void {
    const known = new Set(this.#untimely.map(keyOf));
    this.#untimely = this.#untimelyNow();
    for (const found of this.#untimely) if (!known.has(keyOf(found))) this.#report('certificate', found);
  }

  #report(beginning: string, { file, problem, subject, at }: Untimely): void {
    this.#parts.log.error(`${beginning} ${problem}`, {
      file: `${this.#listener}.tls.${file}`,
      subject,
      [problem === 'has expired' ? 'expired_at' : 'valid_from']: at.toISOString(),
    });
  }

  #untimelyNow(): Untimely[] {
    const now = this.#parts.now();
    const { chain, authorities } = this.#current;
    return [
      ...untimely(chain, now).map((found) => ({ ...found, file: 'cert' as const })),
      ...untimely(authorities, now).map((found) => ({ ...found, file: 'client_ca' as const })),
    ];
  }
}

function keyOf({ file, problem, subject, at }: Untimely): string {
  return JSON.stringify([file, problem, subject, at]);
}

/** Reads the files; throws if one can't be read, `key` isn't that of `cert`, or `client_ca` has no root. */
export function loadTls({ cert, key, client_ca: clientCa, client_certificate }: ListenerFiles): LoadedTls {
  const isRequired = client_certificate === 'require';
  const clients = clientCa === undefined ? null : { ca: readFileSync(clientCa), isRequired };
  const pair = { cert: readFileSync(cert), key: readFileSync(key) };
  // Node accepts authorities that can't verify any client, and a text without any authority.
  const authorities = clients === null ? [] : certificatesOf(clients.ca.toString('latin1'));
  if (clients !== null && !haveRoot(authorities)) throw new Error(`${clientCa}: no root in PEM format`);
  createSecureContext(contextOptions({ ...pair, clients }));
  return { ...pair, clients, chain: certificatesOf(pair.cert.toString('latin1')), authorities };
}

function isSameTls(one: ListenerTls, other: ListenerTls): boolean {
  const ca = one.clients?.ca ?? Buffer.alloc(0);
  return (
    one.cert.equals(other.cert) &&
    one.key.equals(other.key) &&
    ca.equals(other.clients?.ca ?? Buffer.alloc(0))
  );
}
