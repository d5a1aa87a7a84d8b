import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { sentName } from '../support/corpora/engine-differences.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { requireProgram } from '../support/programs.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

const call = { path: '/api/store/x?a=b' };

t.test('a socket of the file system', async (t) => {
  // Short, wherever the checkout is: a socket's path has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'pst-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'u.sock');
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse('by socket')), path);
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  t.equal((await gateway.api.send({ ...call, apiKey: gateway.key })).text, 'by socket');
  const old = `GET /api/store/x HTTP/1.0\r\nX-API-Key: ${gateway.key}\r\n\r\n`;
  t.equal((await exchangeRaw(gateway.port, old)).responses[0]?.text, 'by socket');
  t.match(upstream.received, /\r\nHost: localhost\r\n/i);
});

t.test('the Host that is configured in place of the one received', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: upstream.url, host: 'app.internal' } },
  });
  await gateway.api.send({ ...call, apiKey: gateway.key });
  t.ok(
    upstream.received.startsWith(`GET /api/store/x?a=b HTTP/1.1\r\n${sentName('Host')}: app.internal\r\n`),
  );
  t.match(upstream.received, new RegExp(`\r\nX-Forwarded-Host: 127\\.0\\.0\\.1:${gateway.port}\r\n`));
});

t.test('the echo that is built in', async (t) => {
  const gateway = await startForwarding(t, { upstreams: { app: { url: 'builtin:echo' } } });
  const { json } = await gateway.api.send({
    ...call,
    method: 'PUT',
    apiKey: gateway.key,
    body: Buffer.from([0, 255]),
  });
  t.match(json, { method: 'PUT', target: call.path, body: 'AP8=', body_length: 2 });
  const headers = new Map<string, string>(
    json.headers.map(([name, value]: string[]) => [name!.toLowerCase(), value]),
  );
  t.equal(headers.get('x-auth-key-id'), gateway.keyId);
});

t.test('TLS', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  /** An HTTPS upstream with that certificate, which tells what name it was asked for. */
  async function startTls(certificate: Certificate, more: object = {}): Promise<number> {
    const server = createServer(
      { cert: certificate.cert, key: certificate.key, ...more },
      (request, response) => {
        response.end(String((request.socket as { servername?: string | false }).servername));
      },
    );
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  }
  const ask = async (url: string, tls: object | undefined, host = 'client.example') => {
    const gateway = await startForwarding(t, { upstreams: { app: { url, ...(tls && { tls }) } } });
    const { responses } = await exchangeRaw(
      gateway.port,
      gateway.raw('GET /api/store/x HTTP/1.1', ['Connection: close']).replace('gateway.example', host),
    );
    return responses[0];
  };

  await t.test('is checked against the address of the upstream', async (t) => {
    const certificate = makeCertificate(folder, 'ip', ['IP:127.0.0.1']);
    const url = `https://127.0.0.1:${await startTls(certificate)}`;
    t.equal((await ask(url, { ca: certificate.certFile }))?.status, 200);
    t.equal((await ask(url, undefined))?.status, 502, 'not without the CA');
    const other = makeCertificate(folder, 'other', ['IP:127.0.0.1']);
    t.equal((await ask(url, { ca: other.certFile }))?.status, 502, 'not with another');
  });

  await t.test('is never checked against what the client calls the host', async (t) => {
    const certificate = makeCertificate(folder, 'name', ['DNS:client.example', 'DNS:app.internal']);
    const url = `https://127.0.0.1:${await startTls(certificate)}`;
    t.equal((await ask(url, { ca: certificate.certFile }))?.status, 502);
    const named = await ask(url, { ca: certificate.certFile, server_name: 'app.internal' });
    t.match(named, { status: 200, text: 'app.internal' });
    const wrong = await ask(url, { ca: certificate.certFile, server_name: 'wrong.internal' });
    t.equal(wrong?.status, 502);
  });

  await t.test('with a certificate of our own', async (t) => {
    const certificate = makeCertificate(folder, 'mutual', ['IP:127.0.0.1']);
    const client = makeCertificate(folder, 'client', ['DNS:gateway']);
    const more = { requestCert: true, rejectUnauthorized: true, ca: client.cert };
    const url = `https://127.0.0.1:${await startTls(certificate, more)}`;
    const ca = { ca: certificate.certFile };
    t.equal((await ask(url, { ...ca, cert: client.certFile, key: client.keyFile }))?.status, 200);
    t.equal((await ask(url, ca))?.status, 502);
  });
});
