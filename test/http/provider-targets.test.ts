import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';

const path = '/api/login/idp/exchange';

t.test('targets of the exchange may have 64 KiB, and no others', async (t) => {
  const { port } = await startProviderGateway(t);
  const fill = (target: string, length: number) => `${target}${'x'.repeat(length - target.length)}`;
  const kib = 1024;
  const own = `${path}?assertion=`;
  const headers = (bytes: number) => `X-A: ${'a'.repeat(bytes)}\r\n`;
  const rows: [string, string, number, number][] = [
    ['GET', fill(own, 64 * kib), 0, 401],
    ['GET', fill(own, 64 * kib), 15 * kib, 401],
    ['GET', fill(`${path}/?assertion=`, 64 * kib), 0, 401],
    ['GET', fill(own, 64 * kib + 1), 0, 414],
    ['GET', fill(own, 90 * kib), 0, 431],
    ['GET', fill(own, 10 * kib), 17 * kib, 431],
    ['GET', `${own}a`, 17 * kib, 431],
    ['POST', fill(own, 9 * kib), 0, 414],
    ['POST', fill(own, 20 * kib), 0, 431],
    ['HEAD', fill(own, 9 * kib), 0, 414],
    ['GET', fill('/api/login/idp/start?return_to=', 9 * kib), 0, 414],
    ['GET', fill('/api/login/nobody/exchange?assertion=', 9 * kib), 0, 414],
    ['GET', fill('/api/login/nobody/exchange?assertion=', 20 * kib), 0, 431],
    ['GET', fill('/api/login/idp/exchange', 20 * kib), 0, 431],
    ['GET', fill('/api/login/idp/exchange/more?assertion=', 20 * kib), 0, 431],
    ['GET', fill('/api/store?/api/login/idp/exchange?', 20 * kib), 0, 431],
  ];
  for (const [method, target, more, status] of rows) {
    const request = `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers(more)}\r\n`;
    const { responses, closed } = await exchangeRaw(port, request);
    t.equal(responses[0]?.status, status, `${method} ${target.slice(0, 40)} of ${target.length}, ${more}`);
    t.equal(closed, 'ended');
    if (status === 414 && target.startsWith(path))
      t.same(responses[0]?.values('referrer-policy'), ['no-referrer']);
  }
});

t.test('a long target may come in pieces, and an endless one is refused before it ends', async (t) => {
  const { port } = await startProviderGateway(t);
  const connection = await connectRaw(port);
  connection.write(`GET ${path}?assertion=`);
  for (let sent = 0; sent < 60; sent++) connection.write('x'.repeat(1024));
  connection.write(' HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal((await connection.response()).status, 401);
  connection.write(`GET ${path}?assertion=${'x'.repeat(90_000)}`);
  t.equal((await connection.response()).status, 431);
  t.equal(await connection.closed, 'ended');
});

t.test('an assertion larger than limits.own_body is 413 as a form', async (t) => {
  const { api } = await startProviderGateway(t);
  const form = { assertion: 'x'.repeat(65 * 1024) };
  const response = await api.send({ method: 'POST', path, form });
  t.match(response, { status: 413, json: { code: 'body_too_large', error: 'invalid_request' } });
  t.equal(response.headers['referrer-policy'], 'no-referrer');
});
