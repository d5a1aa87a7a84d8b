import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const post = 'POST /api/store/x HTTP/1.1';
const get = 'GET /api/store/x HTTP/1.1';

t.test('a good request before a bad one on a connection is answered whole', async (t) => {
  const gateway = await startForwarding(t);
  const body = 'x'.repeat(300_000);
  gateway.upstream.response = (_request, response) => {
    setTimeout(() => response.writeHead(200, { 'Content-Length': body.length }).end(body), 50);
  };
  const good = gateway.raw('GET /api/store/good HTTP/1.1');
  const rows: [string, string, number][] = [
    ['before a malformed head', gateway.raw(get, ['X-A: b\nc']), 400],
    ['before ambiguous framing', gateway.raw(post, ['Content-Length: 1', 'Content-Length: 1'], 'a'), 400],
    ['before an ambiguous target', gateway.raw('GET /api//x HTTP/1.1'), 400],
    ['before another version', gateway.raw('GET /api/store/x HTTP/1.2'), 505],
    ['before an unknown method', gateway.raw('BREW /api/store/x HTTP/1.1'), 501],
    ['before CONNECT', gateway.raw('CONNECT a:1 HTTP/1.1'), 405],
    ['before a head that is too large', gateway.raw(get, [`X-A: ${'b'.repeat(20_000)}`]), 431],
  ];
  for (const [name, bad, status] of rows)
    for (const goods of [1, 2])
      await t.test(`${goods} ${name}`, async (t) => {
        const result = expected(name, { status });
        const before = gateway.upstream.seen.length;
        const { responses, closed } = await exchangeRaw(gateway.port, good.repeat(goods) + bad);
        t.same(
          responses.map((response) => response.status),
          [...Array(goods).fill(200), result.status],
        );
        for (const response of responses.slice(0, goods)) t.equal(response.body.length, body.length);
        t.equal(closed, 'ended');
        t.equal(gateway.upstream.seen.length, before + goods);
      });

  await t.test('bytes after a request that closes the connection are no request', async (t) => {
    const before = gateway.upstream.seen.length;
    const last = gateway.raw('GET /api/store/good HTTP/1.1', ['Connection: close']);
    const { responses } = await exchangeRaw(gateway.port, last + good);
    t.same(
      responses.map((response) => response.status),
      [200],
    );
    t.equal(responses[0]?.body.length, body.length);
    t.equal(gateway.upstream.seen.length, before + 1);
  });
  gateway.upstream.response = (_request, response) => response.end('{}');
  t.ok(await gateway.stillServes());
});

t.test('pipelined good requests are answered in their order', async (t) => {
  const gateway = await startForwarding(t);
  gateway.upstream.response = (request, response) => {
    setTimeout(() => response.end(request.url), request.url!.endsWith('1') ? 80 : 0);
  };
  const connection = await connectRaw(gateway.port);
  connection.write([1, 2, 3].map((n) => gateway.raw(`GET /api/store/${n} HTTP/1.1`)).join(''));
  for (const n of [1, 2, 3]) t.equal((await connection.response()).text, `/api/store/${n}`);
  connection.reset();
});

const oneEmptyLine = 'an empty line before a request is overlooked, once (RFC 9112 §2.2)';
t.test(oneEmptyLine, async (t) => {
  const { afterTwo, afterBareLf } = expected(oneEmptyLine, { afterTwo: 400, afterBareLf: 400 });
  const gateway = await startForwarding(t);
  const connection = await connectRaw(gateway.port);
  for (const [name, slip] of [
    ['behind a body', '\r\n'],
    ['and again', '\r\n'],
  ] as const) {
    connection.write(gateway.raw(post, ['Content-Length: 3'], `abc${slip}`));
    t.equal((await connection.response()).status, 200, name);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  connection.write('\r');
  await new Promise((resolve) => setTimeout(resolve, 30));
  connection.write(`\n${gateway.raw(get)}`);
  t.equal((await connection.response()).status, afterTwo, 'not twice');
  connection.reset();
  const bareLf = `\n${gateway.raw(get, ['Connection: close'])}`;
  const { responses } = await exchangeRaw(gateway.port, bareLf);
  t.match(responses, [{ status: afterBareLf }], 'a bare LF is none');
  t.ok(await gateway.stillServes());
});

t.test('an extension on every chunk costs nothing', async (t) => {
  const gateway = await startForwarding(t);
  const chunks = `1;signature=${'f'.repeat(64)}\r\nx\r\n`.repeat(500);
  const { responses } = await exchangeRaw(
    gateway.port,
    gateway.raw(post, ['Transfer-Encoding: chunked', 'Connection: close'], `${chunks}0\r\n\r\n`),
  );
  t.equal(responses[0]?.status, 200);
  t.equal(gateway.upstream.seen.at(-1)!.body.length, 500);
});
