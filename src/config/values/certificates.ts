import { X509Certificate } from 'node:crypto';
import { subjectOf } from '../../http1/message/distinguished-name.ts';

const tlsFiles: ReadonlySet<string> = new Set(['ca', 'cert', 'key', 'client_ca']);

/** True if a key of a TLS section names a file. */
export function isTlsFile(key: string): boolean {
  return tlsFiles.has(key);
}

const certificateBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END [^-]*-----/g;

/** The certificates in a PEM text, in order; possibly none. Throws if one is damaged. */
export function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(certificateBlock) ?? []).map((block) => new X509Certificate(block));
}

/** A certificate that has expired or is not valid yet. */
export interface UntimelyCertificate {
  readonly problem: 'has expired' | 'is not valid yet';
  /** The subject in RFC 4514 notation. */
  readonly subject: string;
  /** The instant at which it expired or will become valid. */
  readonly at: Date;
}

/** The certificates that have expired or are not yet valid at `now`, in epoch ms. */
export function untimely(certificates: readonly X509Certificate[], now: number): UntimelyCertificate[] {
  return certificates.flatMap((certificate): UntimelyCertificate[] => {
    const { validFromDate: from, validToDate: to } = certificate;
    const subject = subjectOf(certificate);
    if (to.getTime() <= now) return [{ problem: 'has expired', subject, at: to }];
    if (from.getTime() > now) return [{ problem: 'is not valid yet', subject, at: from }];
    return [];
  });
}

/** True if one of the certificates is a root: OpenSSL accepts only chains that lead to a root it was given. */
export function haveRoot(certificates: readonly X509Certificate[]): boolean {
  return certificates.some((certificate) => certificate.checkIssued(certificate));
}

/** The earliest expiry of the certificates, epoch ms. */
export function firstExpiry(certificates: readonly X509Certificate[]): number {
  return Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
}
