import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const get = 'GET /api/store/x HTTP/1.1';

t.test('a target over target_bytes is 414', async (t) => {
  const gateway = await startForwarding(t);
  const target = (bytes: number) => `/api/store/${'x'.repeat(bytes - '/api/store/'.length)}`;
  const rows: [string, number][] = [
    [target(8 * 1024), 200],
    [target(8 * 1024 + 1), 414],
    [`/api/store/x?${'y'.repeat(8 * 1024)}`, 414],
    [target(17_000), 431],
  ];
  for (const [path, status] of rows) {
    const { responses, closed } = await exchangeRaw(
      gateway.port,
      gateway.raw(`GET ${path} HTTP/1.1`, ['Connection: close']),
    );
    t.equal(responses[0]?.status, status, `${path.length} bytes`);
    t.equal(closed, 'ended');
  }
  const { responses } = await exchangeRaw(gateway.port, gateway.raw(`GET ${target(9_000)} HTTP/1.1`));
  t.match(responses[0]?.json, { code: 'target_too_long' });
  t.ok(await gateway.stillServes());
});

t.test('a head over header_bytes or header_count is 431', async (t) => {
  const gateway = await startForwarding(t, { upstreams: { app: { url: 'builtin:echo' } } });
  const headOf = (bytes: number) => {
    const empty = gateway.raw(get, ['Connection: close', 'X-A: ']);
    return gateway.raw(get, ['Connection: close', `X-A: ${'a'.repeat(bytes - empty.length)}`]);
  };
  const fields = (count: number) =>
    gateway.raw(get, ['Connection: close', ...Array.from({ length: count - 3 }, (_, i) => `X-${i}: a`)]);
  const rows: [string, string, number][] = [
    ['16 KiB', headOf(16 * 1024), 200],
    ['more than 16 KiB', headOf(16 * 1024 + 100), 431],
    ['far more than 16 KiB', headOf(400_000), 431],
    ['100 fields', fields(100), 200],
    ['101 fields', fields(101), 431],
    ['thousands of fields', fields(3_000), 431],
  ];
  for (const [name, bytes, status] of rows) {
    const { responses, closed } = await exchangeRaw(gateway.port, bytes);
    t.equal(responses[0]?.status, status, name);
    if (status === 431) t.match(responses[0]?.json, { code: 'headers_too_large' });
    t.equal(closed, 'ended');
  }
  t.ok(await gateway.stillServes());
});

t.test('a head that arrives too slowly is 408', async (t) => {
  const gateway = await startForwarding(t, { limits: { header_timeout: '300ms' } });
  for (const bytes of ['G', gateway.raw(get).slice(0, -2), `${get}\r\nHost: a\r\n`]) {
    const { responses, closed } = await exchangeRaw(gateway.port, bytes);
    t.match(responses, [{ status: 408, json: { code: 'request_timeout' } }]);
    t.equal(closed, 'ended');
  }
  const dripping = await connectRaw(gateway.port);
  const timer = setInterval(() => dripping.write('X'), 50);
  dripping.write(`${get}\r\nHost: a\r\nX-A: `);
  t.equal((await dripping.response()).status, 408, 'drop by drop is no faster');
  clearInterval(timer);
  const silent = await connectRaw(gateway.port);
  t.equal(await silent.closed, 'ended', 'a silent connection is closed');
  t.ok(await gateway.stillServes());
});

t.test('a body that stalls is 408', async (t) => {
  const gateway = await startForwarding(t, { limits: { body_idle_timeout: '300ms' } });
  const rows: Record<string, string> = {
    'of a forwarded request': gateway.raw('PUT /api/store/x HTTP/1.1', ['Content-Length: 9'], 'some'),
    'in chunks': gateway.raw('PUT /api/store/x HTTP/1.1', ['Transfer-Encoding: chunked'], '4\r\nso'),
    'of an own endpoint': gateway.raw('POST /api/login/access-token HTTP/1.1', ['Content-Length: 9'], 'some'),
  };
  for (const [name, bytes] of Object.entries(rows)) {
    const { responses, closed } = await exchangeRaw(gateway.port, bytes);
    t.match(responses, [{ status: 408, json: { code: 'request_timeout' } }], name);
    t.same(responses[0]?.values('connection'), ['close']);
    t.equal(closed, 'ended');
  }
  const steady = await connectRaw(gateway.port);
  steady.write(gateway.raw('PUT /api/store/x HTTP/1.1', ['Content-Length: 6']));
  for (const byte of 'steady') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    steady.write(byte);
  }
  t.equal((await steady.response()).status, 200, 'slowly is no fault');
  steady.reset();
});

t.test('a connection is kept for the next request, but not forever', async (t) => {
  const gateway = await startForwarding(t, { limits: { keep_alive_timeout: '400ms' } });
  const connection = await connectRaw(gateway.port);
  for (let i = 0; i < 3; i++) {
    connection.write(gateway.raw(get));
    const response = await connection.response();
    t.equal(response.status, 200);
    t.notMatch(response.values('connection'), ['close']);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.equal(await connection.closed, 'ended');
  const old = await exchangeRaw(gateway.port, gateway.raw('GET /api/store/x HTTP/1.0'));
  t.same(old.responses[0]?.values('connection'), ['close'], 'although HTTP/1.0 asked for keep-alive');
  gateway.upstream.response = (_request, response) => response.setHeader('Content-Length', 2).end('ok');
  const kept = await connectRaw(gateway.port);
  for (let i = 0; i < 2; i++) {
    kept.write(gateway.raw('GET /api/store/x HTTP/1.0', ['Connection: keep-alive']));
    t.same((await kept.response()).values('connection'), ['keep-alive']);
  }
  kept.reset();
});

t.test('requests_per_connection', async (t) => {
  const gateway = await startForwarding(t, { limits: { requests_per_connection: 2 } });
  const { responses } = await exchangeRaw(gateway.port, gateway.raw(get).repeat(4));
  t.same(
    responses.map((response) => response.values('connection')[0]),
    ['keep-alive', 'close'],
  );
});

t.test('connections beyond the limit are not accepted', async (t) => {
  const gateway = await startForwarding(t, { limits: { connections: 2 } });
  const held = [await connectRaw(gateway.port), await connectRaw(gateway.port)];
  const beyond = await exchangeRaw(gateway.port, gateway.raw(get));
  t.equal(beyond.responses.length, 0);
  for (const connection of held) connection.reset();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.ok(await gateway.stillServes());
});

t.test('a client that reads nothing is cut off, and its upstream let go', async (t) => {
  const gateway = await startForwarding(t, { limits: { write_idle_timeout: '400ms' } });
  const body = Buffer.alloc(32 * 1024 * 1024);
  gateway.upstream.response = (request, response) =>
    response.end(request.url!.endsWith('/big') ? body : 'small');
  const connection = await connectRaw(gateway.port);
  connection.pause();
  connection.write(gateway.raw('GET /api/store/big HTTP/1.1'));
  const logged = () => gateway.logLines().findLast((line) => line.path === '/api/store/big');
  await eventually('the request has ended', () => logged() !== undefined);
  t.equal(logged()?.outcome, 'client_too_slow');
  connection.resume();
  t.equal(await connection.closed, 'reset');
  t.ok(await gateway.stillServes());
});
