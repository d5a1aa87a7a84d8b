import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { decisionModes } from '../../src/config/sections/forward-auth.ts';
import { checkPath } from '../../src/forward-auth/check-protocol.ts';
import { describingLines, type httpModes, startDeciding } from '../support/clients/decisions.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

/** The address of the proxy; strangers are 127.0.0.1. */
const proxy = '127.0.0.2';
const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'app' },
];
/** Nothing but what is tested here would close an idle connection. */
const limits = { connections: 3, header_timeout: '10m', keep_alive_timeout: '10m' };
/** HTTP/2's preface with empty settings, and the acknowledgement of ours. */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]),
]);

/** Opens idle connections; `first`: what each sends. */
async function openIdle(
  t: Test,
  port: number,
  count: number,
  first: string | Buffer = '',
): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.resume();
    if (first.length > 0) socket.write(first);
  }
  await Promise.all(sockets.map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)));
  return sockets;
}

/** Asks over HTTP/1.1 on a new connection from the proxy's address; 0 if it is closed. */
async function askOnce(port: number, mode: (typeof httpModes)[number]): Promise<number> {
  const connection = await connectRaw(port, undefined, false, proxy);
  const [line, lines] = describingLines(mode, 'GET', '/api/open');
  connection.write([line, 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'));
  const status = await connection.response().then(
    (response) => response.status,
    () => 0,
  );
  connection.reset();
  return status;
}

/** Asks by gRPC on a new connection from the proxy's address: the status of HTTP. */
async function askByGrpc(port: number): Promise<number> {
  const session = connectHttp2(`http://127.0.0.1:${port}`, {
    createConnection: () => connect({ port, host: '127.0.0.1', localAddress: proxy }),
  });
  session.on('error', () => {});
  try {
    const call = session.request({
      ':method': 'POST',
      ':path': checkPath,
      'content-type': 'application/grpc',
    });
    call.end(Buffer.alloc(5));
    const [headers] = await once(call, 'response');
    return headers[':status'];
  } finally {
    session.destroy();
  }
}

t.test('strangers hold no place that a proxy needs, and are disconnected, in every mode', async (t) => {
  const { portOf, managementPort, stillServes } = await startDeciding(
    t,
    { routes, limits },
    { proxies: [proxy] },
  );
  const judgeAll = async (when: string) => {
    for (const mode of decisionModes) {
      const port = portOf(mode);
      const status = mode === 'envoy_grpc' ? await askByGrpc(port) : await askOnce(port, mode);
      t.equal(status, 200, `${mode}, ${when}`);
    }
  };
  const idle: Socket[] = [];
  for (const mode of decisionModes)
    idle.push(
      ...(await openIdle(t, portOf(mode), 50, mode === 'envoy_grpc' ? preface : 'GET / HTTP/1.1\r\n')),
    );
  await judgeAll('the proxy is answered while they are there');
  await eventually('none of them counts as a proxy’s', async () => {
    const { value } = await scrape(managementPort);
    return value('decision_connections') === 0;
  });
  await Promise.all(idle.map((socket) => (socket.destroyed ? undefined : once(socket, 'close'))));
  await judgeAll('and once they are gone');
  t.ok(await stillServes(), 'the public listener serves');
});

t.test('before TLS and after it, too', async (t) => {
  const folder = t.testdir();
  const { cert } = makeCertificate(folder, 'a', ['DNS:localhost']);
  const tls = { cert: join(folder, 'a.crt'), key: join(folder, 'a.key') };
  const modes = ['nginx', 'envoy_grpc'] as const;
  const { decisionPorts } = await startDeciding(t, {
    routes,
    limits,
    forward_auth: modes.map((mode) => ({ mode, port: 0, proxies: [proxy], tls })),
  });
  for (const [index, mode] of modes.entries()) {
    const port = decisionPorts[index]!;
    const idle = await openIdle(t, port, 70);
    const shaken = connectTls({
      port,
      host: '127.0.0.1',
      ca: cert,
      servername: 'localhost',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    shaken.on('error', () => {});
    shaken.resume();
    await once(shaken, 'secureConnect');
    const own = connectTls({
      socket: connect({ port, host: '127.0.0.1', localAddress: proxy }),
      ca: cert,
      servername: 'localhost',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(own, 'secureConnect');
    await Promise.all(
      [...idle, shaken].map((socket) => (socket.destroyed ? undefined : once(socket, 'close'))),
    );
    t.notOk(own.destroyed, `${mode}: the proxy stays`);
    own.destroy();
  }
});

t.test('as many connections as `limits` says are a proxy’s', async (t) => {
  const { portOf } = await startDeciding(t, { routes, limits }, { proxies: [proxy] });
  for (const mode of ['nginx', 'envoy_grpc'] as const) {
    const connections = await Promise.all(
      Array.from({ length: limits.connections }, () => connectRaw(portOf(mode), undefined, false, proxy)),
    );
    const beyond = await connectRaw(portOf(mode), undefined, false, proxy);
    t.ok(await beyond.closed, mode);
    for (const connection of connections) connection.reset();
  }
});
