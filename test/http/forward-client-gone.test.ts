import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

const outcomes = (lines: Record<string, unknown>[], path: string) =>
  lines.filter((line) => line.path === path).map((line) => line.outcome);

t.test('a client that disconnects cancels its upstream request', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (text.includes('/started')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome');
    else if (text.includes('/good')) socket.write(plainResponse());
  });
  const settings = { url: upstream.url, max_connections: 1, max_waiting: 1 };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const isAnswered = async () => {
    const good = gateway.raw('GET /api/store/good HTTP/1.1', ['Connection: close']);
    return (await exchangeRaw(gateway.port, good)).responses[0]?.status === 200;
  };
  const rows: [string, string, 'reset' | 'end'][] = [
    ['/api/store/before', gateway.raw('GET /api/store/before HTTP/1.1'), 'reset'],
    ['/api/store/before-fin', gateway.raw('GET /api/store/before-fin HTTP/1.1'), 'end'],
    ['/api/store/started', gateway.raw('GET /api/store/started HTTP/1.1'), 'reset'],
    [
      '/api/store/upload',
      gateway.raw('PUT /api/store/upload HTTP/1.1', ['Content-Length: 100'], 'some'),
      'reset',
    ],
    [
      '/api/store/chunks',
      gateway.raw('PUT /api/store/chunks HTTP/1.1', ['Transfer-Encoding: chunked'], '4\r\nsome\r\n'),
      'end',
    ],
  ];
  for (const [path, bytes, leave] of rows)
    await t.test(`${path}, by ${leave}`, async (t) => {
      const connection = await connectRaw(gateway.port);
      connection.write(bytes);
      await eventually(() => upstream.received.includes(path));
      connection[leave]();
      await eventually(() => upstream.open === 0);
      t.ok(await isAnswered(), 'its slot in the pool is free');
      await eventually(() => outcomes(gateway.logLines(), path).length > 0);
      t.same(outcomes(gateway.logLines(), path), ['client_aborted']);
    });
  t.equal(gateway.logLines().filter((line) => line.level === 'error').length, 0);
});

t.test('a client that disconnects while waiting for a connection leaves the queue', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (!text.includes('/held')) socket.write(plainResponse());
  });
  const settings = { url: upstream.url, max_connections: 1, max_waiting: 1 };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const held = await connectRaw(gateway.port);
  held.write(gateway.raw('GET /api/store/held HTTP/1.1'));
  await eventually(() => upstream.received.includes('/held'));
  for (let i = 0; i < 5; i++) {
    const waiting = await connectRaw(gateway.port);
    waiting.write(gateway.raw(`GET /api/store/waiting${i} HTTP/1.1`));
    await new Promise((resolve) => setTimeout(resolve, 20));
    waiting.reset();
    await eventually(() => outcomes(gateway.logLines(), `/api/store/waiting${i}`).length === 1);
  }
  const last = await connectRaw(gateway.port);
  last.write(gateway.raw('GET /api/store/last HTTP/1.1'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  held.reset();
  t.equal((await last.response()).status, 200);
  t.notMatch(upstream.received, /waiting/, 'no request is sent for a client that has disconnected');
  last.reset();
});

t.test('a client that disconnects while its token is checked leaves nothing open', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
    const timer = setInterval(() => socket.write('data: x\n\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  for (let i = 0; i < 20; i++) {
    const { accessToken } = await gateway.api.signIn('ada', 'correct horse battery staple');
    const connection = await connectRaw(gateway.port);
    connection.write(`GET /api/store/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${accessToken}\r\n\r\n`);
    connection.reset();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  await eventually(() => upstream.open === 0);
  t.equal(gateway.logLines().filter((line) => line.level === 'error').length, 0);
});
