import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/** The subject of the certificate that the peer has presented; null if it has presented none. */
export function shownSubject(socket: TLSSocket): string | null {
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? null : subjectOf(certificate);
}

/**
 * The subject of a certificate on one line in the form of RFC 4514: the most specific part first, special and control characters
 * escaped. Empty for a certificate without a subject.
 */
export function subjectOf({ subject }: Pick<X509Certificate, 'subject'>): string {
  // Node puts each part on a line of its own, beginning at the root; the values are already escaped (RFC 4514 §2.4).
  const parts = (subject ?? '').split('\n');
  return parts.reverse().map(joinValues).join(',');
}

/** Joins the values of a part, which OpenSSL separates by a plus between spaces; a plus within a value is escaped. */
function joinValues(part: string): string {
  return part.replaceAll(' + ', '+');
}
