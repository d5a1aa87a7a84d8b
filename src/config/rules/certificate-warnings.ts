import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Finding } from '../report/problems.ts';
import type { Config } from '../sections/schema.ts';
import { certificatesOf, isTlsFile, untimely } from '../values/certificates.ts';
import { tlsSections } from './file-rules.ts';

/**
 * The certificates in the files of a valid configuration that are outside their time. Nothing that would stop a start: the
 * clock may be wrong, and a listener with an expired certificate is still better than none. `now` in epoch ms; paths in
 * `config` are absolute.
 */
export function certificateWarnings(config: Config, now: number): Finding[] {
  return tlsSections(config).flatMap(([path, section]) =>
    Object.entries(section)
      .filter(([key]) => isTlsFile(key) && key !== 'key')
      .flatMap(([key, file]) =>
        untimely(readCertificates(file as string), now).map(({ problem, subject, at }) => ({
          path: [...path, key],
          rule: `the certificate ${subject} ${problem} (${at.toISOString()})`,
        })),
      ),
  );
}

/** None if the file has become unreadable since it was judged. */
function readCertificates(file: string): X509Certificate[] {
  try {
    return certificatesOf(readFileSync(file, 'latin1'));
  } catch {
    return [];
  }
}
