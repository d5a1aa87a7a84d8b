import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiServer, nodeAddress } from './addresses.ts';

/** Files by which the parts of the node know each other. */
export interface Credentials {
  readonly caFile: string;
  readonly serverCert: string;
  readonly serverKey: string;
  /** Of the one client, who may do everything. */
  readonly adminCert: string;
  readonly adminKey: string;
  /** Signs the tokens of service accounts. */
  readonly accountKey: string;
  /** What every client reads. */
  readonly kubeconfig: string;
}

/** Makes them in a folder of `state`. */
export function makeCredentials(state: string): Credentials {
  const folder = join(state, 'credentials');
  mkdirSync(folder, { mode: 0o700 });
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const certify = (name: string, subject: string, ...more: string[]) => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '7'];
    const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
    openssl('req', '-x509', ...key, '-subj', subject, ...files, ...more);
  };

  certify('ca', '/CN=postern-kubernetes');
  const signed = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-addext', 'basicConstraints=CA:FALSE'];
  const names = `DNS:kubernetes.default.svc,IP:10.96.0.1,IP:127.0.0.1,IP:${nodeAddress}`;
  certify('server', '/CN=kube-apiserver', ...signed, '-addext', `subjectAltName=${names}`);
  certify('admin', '/O=system:masters/CN=admin', ...signed);
  openssl('genrsa', '-out', file('account.key'), '2048');

  const credentials = {
    caFile: file('ca.crt'),
    serverCert: file('server.crt'),
    serverKey: file('server.key'),
    adminCert: file('admin.crt'),
    adminKey: file('admin.key'),
    accountKey: file('account.key'),
    kubeconfig: join(state, 'kubeconfig'),
  };
  const { caFile, adminCert, adminKey } = credentials;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'node', cluster: { server: apiServer, 'certificate-authority': caFile } }],
    users: [{ name: 'admin', user: { 'client-certificate': adminCert, 'client-key': adminKey } }],
    contexts: [{ name: 'node', context: { cluster: 'node', user: 'admin' } }],
    'current-context': 'node',
  };
  // JSON is YAML.
  writeFileSync(credentials.kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return credentials;
}
