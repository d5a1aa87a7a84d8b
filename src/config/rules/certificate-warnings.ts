import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { nameOfOrigin } from '../../rules/name-of-origin.ts';
import type { Finding } from '../report/problems.ts';
import type { Config } from '../sections/schema.ts';
import { certificatesOf, isTlsFile, untimely } from '../values/certificates.ts';
import { tlsSections } from './file-rules.ts';

/**
 * Findings about certificates, in the files of a valid configuration, that have expired or are not valid yet. They are warnings:
 * the clock may be wrong, and a listener with an expired certificate is better than none. `now` is in epoch ms; paths in `config`
 * are absolute.
 */
export function certificateWarnings(config: Config, now: number): Finding[] {
  const untimelyOnes = tlsSections(config).flatMap(([path, section]) =>
    Object.entries(section)
      .filter(([key]) => isTlsFile(key) && key !== 'key')
      .flatMap(([key, file]) =>
        untimely(readCertificates(file as string), now).map(({ problem, subject, at }) => ({
          path: [...path, key],
          rule: `the certificate ${subject} ${problem} (${at.toISOString()})`,
        })),
      ),
  );
  return [...untimelyOnes, ...missingNames(config)];
}

/**
 * Findings about public names that the certificate of the public listener lacks though it has others of them. One that has none
 * is for a proxy, which has certificates of its own.
 */
function missingNames({ base_url: baseUrl, web, hosts = [], listen: { tls } }: Config): Finding[] {
  const [certificate] = tls === undefined ? [] : readCertificates(tls.cert);
  if (certificate === undefined) return [];
  const console = web?.console?.base_url;
  const names = [baseUrl, ...(console === undefined ? [] : [console]), ...hosts].map(nameOfOrigin);
  const lacking = names.filter((name) => !isNamed(certificate, name));
  if (lacking.length === 0 || lacking.length === names.length) return [];
  return [
    { path: ['listen', 'tls', 'cert'], rule: `has no name for ${lacking.join(', ')}: browsers will warn` },
  ];
}

/** True if browsers take a certificate for a host; `*` is a whole label, as certificates have it. */
function isNamed(certificate: X509Certificate, name: string): boolean {
  const address = name.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return certificate.checkIP(address) !== undefined;
  return certificate.checkHost(name.replace('*', 'any')) !== undefined;
}

/** The certificates of a file; none if it has become unreadable since validation. */
function readCertificates(file: string): X509Certificate[] {
  try {
    return certificatesOf(readFileSync(file, 'latin1'));
  } catch {
    return [];
  }
}
