import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureContextOptions } from 'node:tls';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';
import { makeAuthority } from '../support/servers/issued-certificates.ts';
import { apply, helm, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace, podsOf } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { bootstrapTokenOf, install, password } from './cluster/release.ts';

const file = 'helm/ci/gateway-tls-values.yaml';
/** How long the kubelet may take to replace the files of a Secret. */
const kubeletMs = 240_000;

t.test(`${file}: HTTPS from Postern and to its service, and another certificate`, async (t) => {
  if (!requireNode(t)) return;
  // Where the file has the service.
  await createNamespace(t, 'shop');
  const folder = mkdtempSync(join(tmpdir(), 'postern-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [first, second] = ['first', 'second'].map((name) =>
    makeCertificate(folder, name, ['DNS:acme.example.com']),
  ) as [Certificate, Certificate];
  const orders = makeCertificate(folder, 'orders', ['DNS:orders.shop']);
  const authority = makeAuthority(folder, 'clients');
  const client = authority.issue('client');
  await apply('shop', [
    tlsSecret('acme-tls', first),
    tlsSecret('orders-tls', orders),
    secretOf('orders-ca', { 'ca.crt': orders.cert }),
    secretOf('acme-clients', { 'ca.crt': readFileSync(authority.caFile) }),
    ...ordersService({ port: 9443, tlsSecret: 'orders-tls' }),
  ]);
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace=shop');
  const values = parse(readFileSync(file, 'utf8'));
  // Nothing here gives a load balancer its address, which helm would wait for.
  const service = { type: 'ClusterIP', port: values.service.port };
  const release = await install('shop', { ...values, service });
  const trust = { ca: first.cert, cert: client.cert, key: client.key };
  await callTheService(t, release.address, trust, await bootstrapTokenOf(release));
  const tested = await helm('test', 'acme', '--timeout=90s', '--namespace=shop');
  t.match(tested.stdout, /Phase:\s+Succeeded/, 'a pod without a certificate is refused');

  const [before] = await podsOf('shop', release.selector);
  await apply('shop', [tlsSecret('acme-tls', second)]);
  const served = async () => (await nameServedAt(release.address)) === 'second';
  await eventually('the other certificate is served', served, kubeletMs);
  const [after] = await podsOf('shop', release.selector);
  t.equal(after.metadata.uid, before.metadata.uid, 'by the same pod');
  t.equal(after.status.containerStatuses[0].restartCount, 0, 'without a restart');
});

/** From the activation to a request that the service gets, over HTTPS alone. */
async function callTheService(t: Test, address: string, trust: SecureContextOptions, token: string) {
  const dispatcher = new Agent({ connect: { ...trust, servername: 'acme.example.com' } });
  t.teardown(() => dispatcher.close());
  async function ask(path: string, sent: { headers?: Record<string, string>; body?: string } = {}) {
    const method = sent.body === undefined ? 'GET' : 'POST';
    const response = await request(`https://${address}${path}`, { dispatcher, method, ...sent });
    return { status: response.statusCode, json: (await response.body.json()) as any };
  }

  const body = JSON.stringify({ token, username: 'admin', password });
  const json = { 'content-type': 'application/json' };
  t.equal((await ask('/api/bootstrap/activate', { headers: json, body })).status, 201);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const signIn = await ask('/api/login/access-token', {
    headers: form,
    body: new URLSearchParams({ username: 'admin', password }).toString(),
  });
  const headers = { authorization: `Bearer ${signIn.json.access_token}` };
  t.match(await ask('/api/store', { headers }), {
    status: 200,
    json: { url: '/api/store', username: 'admin', tenant: 'acme' },
  });
}

function tlsSecret(name: string, { cert, key }: Certificate): object {
  return { ...secretOf(name, { 'tls.crt': cert, 'tls.key': key }), type: 'kubernetes.io/tls' };
}

function secretOf(name: string, files: Record<string, Buffer>): object {
  const texts = Object.entries(files).map(([key, value]) => [key, value.toString()]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: Object.fromEntries(texts) };
}

/** The common name of the certificate. */
function nameServedAt(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 443, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}
