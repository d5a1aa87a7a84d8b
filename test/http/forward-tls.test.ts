import { connect } from 'node:net';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

/** Two gateways on the same stores: one that speaks TLS, and a plain one to sign in at. */
async function startTls(t: TestScope, config: object = {}) {
  const plain = await startForwarding(t, config);
  const certificate = makeCertificate(plain.folder, 'listen', ['DNS:acme.example.com']);
  const tls = { cert: certificate.certFile, key: certificate.keyFile };
  const gateway = await startTestGateway(t, {
    folder: plain.folder,
    config: { ...config, listen: { host: '127.0.0.1', port: 0, tls } },
  });
  const options = { ca: certificate.cert, servername: 'acme.example.com' };
  return { ...gateway, raw: plain.raw, options, connect: () => connectRaw(gateway.port, options) };
}

t.test('the listener speaks TLS, and the upstream learns of it', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { connect: open, raw, upstream } = await startTls(t);
  const connection = await open();
  connection.write(raw('GET /api/store/x HTTP/1.1'));
  t.equal((await connection.response()).status, 200);
  t.same(upstream.seen[0]!.values('x-forwarded-proto'), ['https']);
  connection.write(raw('GET /api//x HTTP/1.1'));
  t.equal((await connection.response()).status, 400);
  t.equal(await connection.closed, 'ended');
});

t.test('bytes that are no TLS get no response, and other clients are served', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { port, connect: open, raw } = await startTls(t, { limits: { header_timeout: '300ms' } });
  for (const bytes of [raw('GET /api/store/x HTTP/1.1'), 'x', '\x16\x03\x01\xff\xff']) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    let came = '';
    socket.on('data', (chunk) => {
      came += chunk.toString('latin1');
    });
    socket.write(bytes, 'latin1');
    socket.end();
    await new Promise((resolve) => socket.on('close', resolve));
    t.notMatch(came, /HTTP/);
  }
  const connection = await open();
  connection.write(raw('GET /api/store/x HTTP/1.1'));
  t.equal((await connection.response()).status, 200);
  connection.end();
});

t.test('a handshake that never ends is cut off', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { port } = await startTls(t, { limits: { header_timeout: '300ms' } });
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const startedMs = performance.now();
  await new Promise((resolve) => socket.on('close', resolve));
  judgeElapsed(t, startedMs, 5_000);
});

t.test('a truncated body does not look complete', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const upstream = await startRawUpstream(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n');
    setTimeout(() => socket.resetAndDestroy(), 30);
  });
  const { connect: open, raw } = await startTls(t, { upstreams: { app: { url: upstream.url } } });
  const connection = await open();
  connection.write(raw('GET /api/store/x HTTP/1.1'));
  await connection.closed;
  t.not((await connection.response().catch(() => undefined))?.isWhole, true);
  await eventually(() => upstream.open === 0);
});
