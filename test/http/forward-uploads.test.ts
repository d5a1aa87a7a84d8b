import { request } from 'node:http';
import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

const post = 'POST /api/store/x HTTP/1.1';
const chunked = ['Transfer-Encoding: chunked'];

t.test('chunks that break in mid-upload are 400, and nothing after them is a request', async (t) => {
  const rows: Record<string, string> = {
    'a size that is no number': 'zz\r\n',
    'a size with a sign': '+3\r\nabc\r\n',
    'a size with 0x': '0x3\r\nabc\r\n',
    'a size with a blank behind it': '3 \r\nabc\r\n',
    'a size with a blank before it': ' 3\r\nabc\r\n',
    'an empty size': '\r\n',
    'a size beyond all bounds': 'ffffffffffffffff\r\nabc\r\n',
    'a bare LF behind a size': '3\nabc\r\n',
    'a bare LF in an extension': '3;a\nabc\r\n',
    'a bare CR in an extension': '3;a\rb\r\nabc\r\n',
    'a bare LF behind a chunk': '3\r\nabc\n0\r\n\r\n',
    'a chunk longer than its size': '3\r\nabcd\r\n0\r\n\r\n',
    'an extension without end': `3;${'x'.repeat(20_000)}`,
    'trailers without end': `0\r\n${'X-T: a\r\n'.repeat(4_000)}`,
    'a bare LF in the trailers': '0\r\nX-T: a\n\r\n\r\n',
  };
  const upstream = await startRawUpstream(t, () => {});
  const limits = { body_idle_timeout: '2s' };
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } }, limits });
  for (const [name, rest] of Object.entries(rows))
    await t.test(name, async (t) => {
      const refusal = expected(name, { status: 400, code: 'bad_request', restIsBody: false });
      const connection = await connectRaw(gateway.port);
      const before = upstream.received.length;
      connection.write(gateway.raw(post, chunked, '5\r\nhello\r\n'));
      await eventually(() => upstream.received.includes('\r\n5\r\nhello', before));
      connection.write(`${rest}${gateway.raw('GET /api/store/smuggled HTTP/1.1')}`);
      const response = await connection.response();
      t.match(response, { status: refusal.status, json: { code: refusal.code } });
      t.same(response.values('connection'), ['close']);
      t.equal(await connection.closed, 'ended');
      await eventually(() => upstream.open === 0);
      const received = upstream.received.slice(before);
      if (refusal.restIsBody) t.match(received, /\r\n[0-9a-f]+\r\nabc\r\nGET \/api\/store\/smuggled/);
      else t.notMatch(received, /smuggled/);
      t.notMatch(received, /\r\n0\r\n\r\n$/, 'the upload never looks whole');
    });
  t.equal(gateway.logLines().filter((line) => line.level === 'error').length, 0);
});

t.test('max_body', async (t) => {
  const gateway = await startForwarding(t, {
    routes: [{ prefix: '/api', upstream: 'app', max_body: '1KiB' }],
    upstreams: { app: { url: 'builtin:echo' } },
  });
  const sizes: [string, string, number][] = [
    ['Content-Length: 1024', 'x'.repeat(1024), 200],
    ['Content-Length: 1025', 'x'.repeat(1025), 413],
    ['Content-Length: 900000000', 'x', 413],
    ['Transfer-Encoding: chunked', `400\r\n${'x'.repeat(1024)}\r\n0\r\n\r\n`, 200],
    ['Transfer-Encoding: chunked', `401\r\n${'x'.repeat(1025)}\r\n0\r\n\r\n`, 413],
  ];
  for (const [line, body, status] of sizes) {
    const { responses, closed } = await exchangeRaw(
      gateway.port,
      gateway.raw('PUT /api/x HTTP/1.1', [line, 'Connection: close'], body),
    );
    t.equal(responses[0]?.status, status, `${line}, ${body.length}`);
    t.equal(closed, 'ended');
    if (status === 413) t.equal(responses[0]?.json.code, 'body_too_large');
  }
  const nobody = await gateway.api.send({ method: 'PUT', path: '/api/x', body: 'x'.repeat(2_000) });
  t.equal(nobody.status, 401, 'who may not at all is told so first');
});

t.test('Expect: 100-continue is answered once the request is admitted', async (t) => {
  const gateway = await startForwarding(t);
  const expects = ['Expect: 100-Continue', 'Content-Length: 3'];
  await t.test('and the body follows', async (t) => {
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw(post, expects));
    t.equal((await connection.response()).status, 100);
    connection.write('abc');
    t.equal((await connection.response()).status, 200);
    const seen = gateway.upstream.seen.at(-1)!;
    t.equal(seen.body.toString(), 'abc');
    t.same(seen.values('expect'), []);
    connection.write(gateway.raw(post, ['Content-Length: 1'], 'x'));
    t.equal((await connection.response()).status, 200, 'the connection goes on');
    connection.reset();
  });
  await t.test('and not before', async (t) => {
    const rows: [string, string, number][] = [
      ['without a credential', gateway.raw(post, expects).replace(/X-API-Key: .*\r\n/, ''), 401],
      ['with a bad one', gateway.raw(post, expects).replace(gateway.key, 'x'), 401],
      ['without a route', gateway.raw('POST /nowhere HTTP/1.1', expects), 404],
      ['on an own path', gateway.raw('POST /api/logout HTTP/1.1', expects), 405],
    ];
    for (const [name, bytes, status] of rows) {
      const { responses, closed } = await exchangeRaw(gateway.port, bytes);
      t.same(
        responses.map((response) => response.status),
        [status],
        name,
      );
      t.equal(closed, 'ended');
    }
  });
  await t.test('another expectation is 417', async (t) => {
    for (const value of ['200-ok', '100-continue, x', 'x, 100-continue']) {
      const { responses } = await exchangeRaw(
        gateway.port,
        gateway.raw(post, [`Expect: ${value}`, 'Content-Length: 1'], 'x'),
      );
      t.match(responses, [{ status: 417, json: { code: 'expectation_failed' } }], value);
    }
    const twice = gateway.raw(post, ['Expect: x', 'Expect: 100-continue', 'Content-Length: 1'], 'x');
    t.match((await exchangeRaw(gateway.port, twice)).responses, [{ status: 417 }]);
  });
  await t.test('to HTTP/1.0 nobody says 100', async (t) => {
    const { responses } = await exchangeRaw(
      gateway.port,
      gateway.raw('POST /api/store/x HTTP/1.0', expects, 'abc'),
    );
    t.same(
      responses.map((response) => response.status),
      [200],
    );
  });
});

t.test('an early answer to an upload reaches the client', async (t) => {
  const big = 8 * 1024 * 1024;
  for (const close of [true, false])
    await t.test(close ? 'and the upstream closes' : 'and the upstream keeps its connection', async (t) => {
      const upstream = await startRawUpstream(t, ({ socket }) => {
        const bytes = plainResponse('enough').replace('200 OK', '409 Conflict');
        if (close) socket.end(bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
        else socket.write(bytes);
      });
      const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
      const connection = await connectRaw(gateway.port);
      connection.write(gateway.raw(post, [`Content-Length: ${big}`], 'x'.repeat(200_000)));
      const response = await connection.response();
      t.match(response, { status: 409, text: 'enough' });
      connection.write('x'.repeat(300_000));
      await connection.closed;
      await eventually(() => upstream.open === 0);
      t.equal(
        upstream.received.split('HTTP/1.1').length,
        2,
        'one request, and no part of its body as another',
      );
    });

  await t.test('a small rest of the body does not cost the connection', async (t) => {
    const upstream = await startHttpUpstream(t, (_incoming, response) => response.end('early'));
    const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw(post, ['Content-Length: 8'], 'half'));
    t.equal((await connection.response()).text, 'early');
    connection.write(`rest${gateway.raw('GET /api/store/x HTTP/1.1')}`);
    t.equal((await connection.response()).text, 'early');
    connection.reset();
  });
});

t.test('a refused upload of many megabytes is answered', async (t) => {
  const { port, stillServes } = await startForwarding(t);
  const status = await new Promise((resolve, reject) => {
    const sent = request({ port, method: 'PUT', path: '/api/store/x', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    for (let i = 0; i < 64; i++) sent.write(Buffer.alloc(64 * 1024));
    sent.end();
  });
  t.equal(status, 401);
  t.ok(await stillServes());
});
