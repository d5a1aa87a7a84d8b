import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key and a certificate that signs itself, as PEM files and texts. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Makes one in the folder; `names` as `DNS:…` and `IP:…`. */
export function makeCertificate(folder: string, label: string, names: readonly string[]): Certificate {
  const certFile = join(folder, `${label}.crt`);
  const keyFile = join(folder, `${label}.key`);
  const options = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  const about = ['-subj', `/CN=${label}`, '-addext', `subjectAltName=${names.join(',')}`];
  const files = ['-keyout', keyFile, '-out', certFile];
  execFileSync('openssl', ['req', ...options, ...about, ...files], { stdio: 'ignore' });
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
