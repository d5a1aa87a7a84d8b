import t from 'tap';
import { startDeciding } from '../support/clients/decisions.ts';
import { exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

const hsts = ['max-age=31536000'];
const stsOf = (response: RawResponse | undefined) => response?.values('strict-transport-security');
const close = 'Host: acme.example.com\r\nConnection: close\r\n';
const web = { path: '/postern' };

t.test('with listen.hsts every response says that the host is for https alone', async (t) => {
  const gateway = await startForwarding(t, { listen: { hsts: true }, web });
  gateway.upstream.response = (_request, response) =>
    response
      .writeHead(200, [
        ...['Strict-Transport-Security', 'max-age=0', 'strict-transport-security', 'max-age=5; preload'],
        ...['Connection', 'Strict-Transport-Security'],
      ])
      .end();
  const rows: [name: string, bytes: string, status: number][] = [
    [
      'a forwarded one, in place of the upstream’s',
      gateway.raw('GET /api/store/x HTTP/1.1', ['Connection: close']),
      200,
    ],
    ['an own one', `GET /.well-known/jwks.json HTTP/1.1\r\n${close}\r\n`, 200],
    ['a page', `GET /postern/sign-in HTTP/1.1\r\n${close}\r\n`, 200],
    ['a page that refuses', `GET /postern/nothing HTTP/1.1\r\nAccept: text/html\r\n${close}\r\n`, 404],
    ['a redirect', `GET /postern HTTP/1.1\r\n${close}\r\n`, 308],
    ['a 401', `GET /api/store/x HTTP/1.1\r\n${close}\r\n`, 401],
    ['a 404', `GET /nowhere HTTP/1.1\r\n${close}\r\n`, 404],
    ['a 405', `TRACE /api/store/x HTTP/1.1\r\n${close}\r\n`, 405],
    ['a 400', `GET /api//x HTTP/1.1\r\n${close}\r\n`, 400],
    ['a 204', `OPTIONS /api/login/access-token HTTP/1.1\r\n${close}\r\n`, 204],
    ['a 414', `GET /api/${'x'.repeat(10_000)} HTTP/1.1\r\n${close}\r\n`, 414],
    ['a 431', `GET /api/x HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n${close}\r\n`, 431],
    ['one to what is no request', 'hello\r\n\r\n', 400],
  ];
  for (const [name, bytes, status] of rows) {
    const [response] = (await exchangeRaw(gateway.port, bytes)).responses;
    t.equal(response?.status, status, name);
    t.same(stsOf(response), hsts, name);
  }
  await gateway.reload({ web });
  for (const [name, bytes] of rows.slice(1)) {
    const [response] = (await exchangeRaw(gateway.port, bytes)).responses;
    t.same(stsOf(response), [], `no longer after a reload: ${name}`);
  }
});

t.test('without it the upstream’s own passes', async (t) => {
  const gateway = await startForwarding(t);
  gateway.upstream.response = (_request, response) =>
    response.writeHead(200, { 'Strict-Transport-Security': 'max-age=5' }).end();
  const bytes = gateway.raw('GET /api/store/x HTTP/1.1', ['Connection: close']);
  t.same(stsOf((await exchangeRaw(gateway.port, bytes)).responses[0]), ['max-age=5']);
  const [own] = (await exchangeRaw(gateway.port, `GET /nowhere HTTP/1.1\r\n${close}\r\n`)).responses;
  t.same(stsOf(own), []);
});

t.test('a switch of protocols says it, too', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  );
  const gateway = await startForwarding(t, {
    listen: { hsts: true },
    upstreams: { app: { url: upstream.url } },
  });
  const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const bytes = gateway.raw('GET /api/store/x HTTP/1.1', [
    ...lines,
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]);
  const [response] = (await exchangeRaw(gateway.port, bytes)).responses;
  t.equal(response?.status, 101);
  t.same(stsOf(response), hsts);
});

t.test('answers to other proxies say nothing of it: what they tell clients is theirs', async (t) => {
  const { ask } = await startDeciding(t, {
    listen: { hsts: true },
    routes: [{ prefix: '/api', upstream: 'none', public: true }],
  });
  t.same(stsOf(await ask('caddy', { target: '/api/x' })), []);
  t.same(stsOf(await ask('caddy', { target: '/elsewhere' })), []);
});
