import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { parse } from 'yaml';
import { makeCertificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { guessPort } from '../support/loopback-port.ts';
import { requireProgram } from '../support/programs.ts';
import { startContainer } from './container.ts';
import { type Manifest, render, requireHelm } from './helm.ts';
import { runPod } from './pod.ts';
import { configOn, password, token } from './use-pod.ts';

const file = 'helm/ci/gateway-tls-values.yaml';

function secretOf(name: string, data: Record<string, Buffer>): Manifest {
  const texts = Object.entries(data).map(([key, value]) => [key, value.toString()]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: Object.fromEntries(texts) };
}

t.test(`${file}: HTTPS from Postern, and to a service that it knows by an authority`, async (t) => {
  if (!requireHelm(t) || !requireProgram(t, 'openssl')) return;
  const folder = mkdtempSync(join(tmpdir(), 'postern-pod-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const own = makeCertificate(folder, 'acme', ['DNS:acme.example.com']);
  const orders = makeCertificate(folder, 'orders', ['DNS:orders.shop']);

  const servicePort = guessPort();
  const env = { PORT: `${servicePort}`, TLS_CERT: orders.certFile, TLS_KEY: orders.keyFile };
  const service = startContainer(
    {
      name: 'orders',
      command: ['node', 'test/helm/services/fastify.ts'],
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    },
    new Map(),
  );
  t.teardown(() => service.kill());

  // As the file has it, but for where the service is and the ports.
  const values = parse(readFileSync(file, 'utf8'));
  const { port, config } = configOn('');
  const { app } = values.config.upstreams;
  const upstreams = { app: { ...app, url: { env: 'ORDERS_URL' } } };
  const pod = await runPod(t, [
    ...render({
      ...values,
      config: { ...values.config, ...config, upstreams },
      extraEnv: [{ name: 'ORDERS_URL', value: `https://127.0.0.1:${servicePort}` }],
      secrets: { bootstrapToken: { value: token } },
    }),
    secretOf('acme-tls', { 'tls.crt': own.cert, 'tls.key': own.key }),
    secretOf('orders-ca', { 'ca.crt': orders.cert }),
  ]);

  const dispatcher = new Agent({ connect: { ca: own.cert, servername: 'acme.example.com' } });
  t.teardown(() => dispatcher.close());
  async function ask(path: string, sent: { headers?: Record<string, string>; body?: string } = {}) {
    const method = sent.body === undefined ? 'GET' : 'POST';
    const response = await request(`https://127.0.0.1:${port}${path}`, { dispatcher, method, ...sent });
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
  const response = await eventually('the service listens', async () => {
    const response = await ask('/api/store', { headers });
    return response.status === 200 && response;
  });
  t.match(response.json, { url: '/api/store', username: 'admin', tenant: 'acme' });
  t.strictSame((await pod.end()).codes, { postern: 0 });
});
