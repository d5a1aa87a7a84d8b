import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { judgeElapsed } from '../support/elapsed.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { requireProgram } from '../support/programs.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';
import { closeCodeOf } from '../support/servers/web-sockets.ts';

/** A WebSocket upstream behind TLS that echoes messages. */
async function startUpstream(t: Test, { cert, key }: Certificate): Promise<string> {
  const https = createServer({ cert, key });
  const server = new WebSocketServer({ server: https });
  server.on('connection', (socket) => {
    socket.on('message', (data, binary) => socket.send(data, { binary }));
  });
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
    https.close();
    https.closeAllConnections();
  });
  return `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
}

/** A gateway with TLS on both sides, and a plain one on the same stores to sign in at. */
async function start(t: Test) {
  const certificate = makeCertificate(t.testdir(), 'both', ['IP:127.0.0.1']);
  const url = await startUpstream(t, certificate);
  const config = {
    upstreams: { app: { url, tls: { ca: certificate.certFile } } },
    shutdown: { timeout: '300ms' },
  };
  const plain = await startForwarding(t, config);
  const tls = { cert: certificate.certFile, key: certificate.keyFile };
  const listen = { host: '127.0.0.1', port: 0, tls };
  const gateway = await startTestGateway(t, { folder: plain.folder, config: { ...config, listen } });
  return { plain, gateway, ca: certificate.cert };
}

t.test('a WebSocket over TLS on both sides passes messages and ends with its key', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { plain, gateway, ca } = await start(t);
  const headers = { 'X-API-Key': plain.key };
  const socket = new WebSocket(`wss://127.0.0.1:${gateway.port}/api/store/live`, { ca, headers });
  await once(socket, 'open');
  const message = Buffer.alloc(3_000_000, 'x');
  socket.send(message);
  const [response] = await once(socket, 'message');
  t.ok(message.equals(response));
  const closed = closeCodeOf(socket);
  const path = `/api/admin/api-keys/${plain.keyId}`;
  await plain.api.send({ method: 'DELETE', path, bearer: plain.bearer });
  t.equal(await closed, 1008);
});

t.test('only HTTP/1.1 is agreed on', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { gateway, ca } = await start(t);
  const offering = (...ALPNProtocols: string[]) =>
    connectTls({ port: gateway.port, host: '127.0.0.1', ca, ALPNProtocols });
  const both = offering('h2', 'http/1.1');
  await once(both, 'secureConnect');
  t.equal(both.alpnProtocol, 'http/1.1');
  both.destroy();
  await t.rejects(once(offering('h2'), 'secureConnect'));
});

t.test('a client that half-closes during the handshake is closed at once', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { certFile: cert, keyFile: key } = makeCertificate(t.testdir(), 'half', ['IP:127.0.0.1']);
  const listen = { host: '127.0.0.1', port: 0, tls: { cert, key } };
  const gateway = await startTestGateway(t, { config: { listen, limits: { header_timeout: '1h' } } });
  for (const bytes of ['', '\x16\x03\x01\x02\x00']) {
    const client = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {}).resume();
    const over = new Promise((resolve) => client.once('end', resolve).once('close', resolve));
    client.end(bytes, 'latin1');
    await over;
    client.destroy();
  }
  t.pass('before any time-out');
});

t.test('a handshake that never ends does not keep the gateway from stopping', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { gateway } = await start(t);
  const silent = connect(gateway.port, '127.0.0.1');
  const closed = once(silent, 'close');
  await once(silent, 'connect');
  await sleep(50);
  const startedMs = performance.now();
  await gateway.stop();
  await closed;
  judgeElapsed(t, startedMs, 2_000);
});
