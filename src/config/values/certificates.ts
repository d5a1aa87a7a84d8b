import { X509Certificate } from 'node:crypto';
import { subjectOf } from '../../http1/message/distinguished-name.ts';

const tlsFiles: ReadonlySet<string> = new Set(['ca', 'cert', 'key', 'client_ca']);

/** Whether a key of a TLS section names a file. */
export function isTlsFile(key: string): boolean {
  return tlsFiles.has(key);
}

const certificateBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END [^-]*-----/g;

/** The certificates in a PEM text, in its order; none if there are none. Throws if one is damaged. */
export function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(certificateBlock) ?? []).map((block) => new X509Certificate(block));
}

/** A certificate that is outside its time. */
export interface UntimelyCertificate {
  readonly problem: 'has expired' | 'is not valid yet';
  /** As RFC 4514 writes it. */
  readonly subject: string;
  /** When it expired or will become valid. */
  readonly at: Date;
}

/** Those that are outside their time; `now` in epoch ms. */
export function untimely(certificates: readonly X509Certificate[], now: number): UntimelyCertificate[] {
  return certificates.flatMap((certificate): UntimelyCertificate[] => {
    const { validFromDate: from, validToDate: to } = certificate;
    const subject = subjectOf(certificate);
    if (to.getTime() <= now) return [{ problem: 'has expired', subject, at: to }];
    if (from.getTime() > now) return [{ problem: 'is not valid yet', subject, at: from }];
    return [];
  });
}

/** Whether one of them is a root: OpenSSL accepts a chain only up to a root that it was given. */
export function haveRoot(certificates: readonly X509Certificate[]): boolean {
  return certificates.some((certificate) => certificate.checkIssued(certificate));
}

/** When the first of them expires, epoch ms. */
export function firstExpiry(certificates: readonly X509Certificate[]): number {
  return Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
}
