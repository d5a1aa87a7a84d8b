import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestScope } from './gateway.ts';

/** A certificate and its key, in files. */
export interface CertificateFile {
  readonly cert: string;
  readonly key: string;
  /** Both as PEM. */
  readonly pem: { readonly cert: Buffer; readonly key: Buffer };
}

/** An authority of a test, with the openssl program behind it. */
export interface Authority {
  /** File of its own certificate. */
  readonly ca: string;
  readonly caPem: Buffer;
  /** Issues a certificate for those alternative names, such as `IP:127.0.0.1` or `DNS:up.example`. */
  issue(name: string, alternativeNames: string): CertificateFile;
}

/** Makes an authority in a folder that goes with the test; needs openssl. */
export function createAuthority(t: TestScope): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'postern-certificates-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=ca'],
  );
  return {
    ca: join(folder, 'ca.crt'),
    caPem: readFileSync(join(folder, 'ca.crt')),
    issue(name, alternativeNames) {
      const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${alternativeNames}\n`);
      openssl('req', ...newKey, '-keyout', key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      openssl(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
        ...['-out', cert, '-days', '2', '-extfile', `${name}.ext`],
      );
      return { cert, key, pem: { cert: readFileSync(cert), key: readFileSync(key) } };
    },
  };
}
