import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Certificate } from './certificates.ts';

const dayMs = 86_400_000;

/** What an issued certificate says; by default a client's, for two days from yesterday on. */
export interface Issue {
  /** As `openssl req -subj` takes it; default: `/CN=` and the label. */
  readonly subject?: string;
  /** Lines of an extension section; default: client authentication. */
  readonly extensions?: readonly string[];
  /** Days from now. */
  readonly from?: number;
  readonly to?: number;
  /** Arguments of `openssl req` for the key; default: P-256. */
  readonly key?: readonly string[];
}

/** An authority whose certificate it has issued itself. */
export interface Authority {
  readonly caFile: string;
  /** Issues a certificate in files named by the label. */
  issue(label: string, what?: Issue): Certificate;
}

export const ellipticKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] as const;
export const forServers = ['extendedKeyUsage = serverAuth', 'subjectAltName = DNS:localhost, IP:127.0.0.1'];
const forClients = ['extendedKeyUsage = clientAuth'];

/** Makes an authority in the folder. `to`: when it expires, days from now. */
export function makeAuthority(folder: string, label: string, to = 30): Authority {
  const caFile = join(folder, `${label}.crt`);
  const keyFile = join(folder, `${label}.key`);
  const isAuthority = ['basicConstraints = critical, CA:TRUE', 'keyUsage = keyCertSign'];
  make(folder, label, { subject: `/O=Acme/CN=${label}`, extensions: isAuthority, from: -2, to }, [
    '-selfsign',
  ]);
  const signedBy = ['-cert', caFile, '-keyfile', keyFile];
  return { caFile, issue: (name, what = {}) => make(folder, name, what, signedBy) };
}

function make(folder: string, label: string, what: Issue, signedBy: readonly string[]): Certificate {
  const { subject = `/CN=${label}`, extensions = forClients, from = -1, to = 1, key = ellipticKey } = what;
  const certFile = join(folder, `${label}.crt`);
  const keyFile = join(folder, `${label}.key`);
  const request = join(folder, `${label}.csr`);
  const config = join(folder, `${label}.cnf`);
  writeFileSync(config, `${configLines(folder, label).join('\n')}\n${extensions.join('\n')}\n`);
  writeFileSync(join(folder, `${label}.index`), '');
  writeFileSync(join(folder, `${label}.serial`), randomBytes(8).toString('hex'));
  const about = ['-subj', subject, '-utf8', '-multivalue-rdn', '-nodes'];
  openssl('req', '-new', ...key, ...about, '-keyout', keyFile, '-out', request);
  const times = ['-startdate', opensslTime(from), '-enddate', opensslTime(to)];
  const by = signedBy[0] === '-selfsign' ? ['-selfsign', '-keyfile', keyFile] : signedBy;
  const files = ['-in', request, '-out', certFile, '-batch', '-notext', '-utf8'];
  openssl('ca', '-config', config, ...times, ...by, ...files);
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

function configLines(folder: string, label: string): string[] {
  return [
    '[ca]\ndefault_ca = own\n[own]\npolicy = any\ndefault_md = sha256\nunique_subject = no\npreserve = yes',
    'email_in_dn = yes\nstring_mask = utf8only\nx509_extensions = wanted',
    `database = ${join(folder, `${label}.index`)}\nnew_certs_dir = ${folder}`,
    `serial = ${join(folder, `${label}.serial`)}`,
    '[any]\ncountryName = optional\norganizationName = optional\norganizationalUnitName = optional',
    'commonName = optional\nUID = optional\n[wanted]',
  ];
}

function opensslTime(days: number): string {
  const time = new Date(Date.now() + days * dayMs).toISOString();
  return `${time.slice(0, 19).replace(/[-:T]/g, '')}Z`;
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
