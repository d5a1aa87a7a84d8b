import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { expected, sentConnection } from '../support/corpora/engine-differences.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';
import { webSocketLines } from '../support/servers/web-sockets.ts';

const settings = (url: string) => ({
  upstreams: { app: { url } },
  routes: [
    { prefix: '/api/foo', upstream: 'app', upgrades: ['foo', 'Bar/1.0'] },
    { prefix: '/api/open', upstream: 'app', public: true },
    { prefix: '/api', upstream: 'app' },
  ],
});

const closing = 'Connection: Upgrade, close';

t.test('only what a route knows of is passed on as an upgrade', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, settings(upstream.url));
  /** The protocol that the upstream is asked for, and null for none, by what the client sends. */
  const rows: Record<string, [requestLine: string, lines: string[], seen: string | null]> = {
    'a WebSocket': ['GET /api/x HTTP/1.1', [closing, 'Upgrade: websocket'], 'websocket'],
    'a WebSocket in capitals': ['GET /api/x HTTP/1.1', [closing, 'Upgrade: WebSocket'], 'websocket'],
    'a protocol the route names': ['GET /api/foo/x HTTP/1.1', [closing, 'Upgrade: foo'], 'foo'],
    'one it names, by POST': ['POST /api/foo/x HTTP/1.1', [closing, 'Upgrade: FOO'], 'foo'],
    'one it names with a version': ['GET /api/foo/x HTTP/1.1', [closing, 'Upgrade: bar/1.0'], 'bar/1.0'],
    'one that another route names': ['GET /api/x HTTP/1.1', [closing, 'Upgrade: foo'], null],
    h2c: [
      'GET /api/foo/x HTTP/1.1',
      [
        'Connection: Upgrade, HTTP2-Settings, close',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      ],
      null,
    ],
    TLS: ['OPTIONS /api/foo/x HTTP/1.1', [closing, 'Upgrade: TLS/1.0'], null],
    'a list with h2c': ['GET /api/foo/x HTTP/1.1', [closing, 'Upgrade: websocket, h2c'], null],
    'a list with h2c in front': ['GET /api/foo/x HTTP/1.1', [closing, 'Upgrade: h2c, websocket'], null],
    'two lines': ['GET /api/x HTTP/1.1', [closing, 'Upgrade: websocket', 'Upgrade: h2c'], null],
    'a WebSocket with a version': ['GET /api/x HTTP/1.1', [closing, 'Upgrade: websocket/13'], null],
    'no word of it in Connection': ['GET /api/x HTTP/1.1', ['Connection: close', 'Upgrade: websocket'], null],
    'over HTTP/1.0': ['GET /api/x HTTP/1.0', [closing, 'Upgrade: websocket'], null],
    'a WebSocket by POST': ['POST /api/x HTTP/1.1', [closing, 'Upgrade: websocket'], null],
    'with a body': [
      'GET /api/foo/x HTTP/1.1',
      [closing, 'Upgrade: foo', 'Content-Length: 2', '', 'ab'],
      null,
    ],
    'an empty one': ['GET /api/x HTTP/1.1', [closing, 'Upgrade:'], null],
  };
  for (const [name, [requestLine, lines, protocol]] of Object.entries(rows))
    await t.test(name, async (t) => {
      const before = upstream.received.length;
      const [response] = (await exchangeRaw(gateway.port, gateway.raw(requestLine, lines))).responses;
      t.equal(response?.status, 200, 'the upstream may decline');
      const [head] = upstream.received.slice(before).split('\r\n\r\n');
      const seen = head!.split('\r\n').filter((line) => /^(upgrade|connection|http2)/i.test(line));
      const plain = sentConnection().map((value) => `connection: ${value}`);
      t.same(seen, protocol === null ? plain : ['Connection: Upgrade', `Upgrade: ${protocol}`]);
    });
});

t.test('a token offered as a subprotocol never goes upstream, whatever the request', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, settings(upstream.url));
  const offer = `Sec-WebSocket-Protocol: postern.bearer.${gateway.bearer}`;
  const rows: [requestLine: string, ...lines: string[]][] = [
    ['GET /api/open/x HTTP/1.1', 'Connection: close', `${offer}, chat`],
    ['POST /api/open/x HTTP/1.1', 'Connection: close', offer, 'Sec-WebSocket-Protocol: chat'],
    ['GET /api/open/x HTTP/1.0', 'Connection: close', 'Upgrade: websocket', `${offer} , chat`],
    ['GET /api/open/x HTTP/1.1', closing, 'Upgrade: h2c', offer.replace(': ', ': chat ,\t')],
    ['GET /api/open/x HTTP/1.1', 'Connection: close', `${offer.replace('Sec', 'sec')},chat`],
  ];
  for (const [requestLine, ...lines] of rows) {
    const before = upstream.received.length;
    const bytes = [requestLine, 'Host: a', ...lines, '', ''].join('\r\n');
    const [response] = (await exchangeRaw(gateway.port, bytes)).responses;
    t.equal(response?.status, 200);
    const seen = upstream.received.slice(before);
    t.match(seen, /^Sec-WebSocket-Protocol: chat\r$/im, lines.join());
    t.notMatch(seen, /postern(?!-via:)|x-auth/i, 'nor does it sign anybody in');
  }
});

const goesOn = 'HTTP goes on where no upgrade is made';
t.test(goesOn, async (t) => {
  const { served } = expected(goesOn, { served: 2 });
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(plainResponse()));
  const gateway = await startForwarding(t, settings(upstream.url));
  const client = await connectRaw(gateway.port);
  for (let i = 0; i < served; i++) {
    client.write(gateway.raw('GET /api/x HTTP/1.1', webSocketLines));
    t.equal((await client.response()).text, 'fine');
  }
  if (served === 1) t.equal(await client.closed, 'ended');
  t.equal(upstream.accepted, 1, 'both sides keep their connection');
});
