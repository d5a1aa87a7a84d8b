import t from 'tap';
import { connectRaw, exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const ours = 'https://app.example';
const theirs = 'https://graph.example';
const preflight = [`Origin: ${theirs}`, 'Access-Control-Request-Method: PUT'];
const corsOf = (response: RawResponse | undefined) => [
  ...(response?.rawHeaders ?? []).filter((text, i) => i % 2 === 0 && /^access-control-/i.test(text)),
  ...(response?.values('vary') ?? []),
];

/** A gateway with origins of its own, a route whose upstream has CORS of its own, and one beside and one below it. */
async function scene(t: Parameters<typeof startForwarding>[0], engine = 'built_in', origins = [ours]) {
  const gateway = await startForwarding(t, {
    listen: { engine },
    cors: { origins },
    routes: [
      { prefix: '/api/graph', upstream: 'app', cors: 'upstream', scopes: { read: ['store:read'] } },
      { prefix: '/api/graph/ours', upstream: 'app' },
      { prefix: '/api/store', upstream: 'app' },
    ],
  });
  gateway.upstream.response = (_request, response) =>
    response.writeHead(200, { 'Access-Control-Allow-Origin': theirs, Vary: 'Accept' }).end('up');
  const ask = async (requestLine: string, lines: readonly string[] = []) => {
    const head = [`${requestLine} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''];
    return (await exchangeRaw(gateway.port, head.join('\r\n'))).responses[0];
  };
  return { gateway, ask, withKey: `X-API-Key: ${gateway.key}` };
}

for (const engine of ['built_in', 'node'])
  t.test(`CORS of one route is its upstream’s, elsewhere Postern’s: engine ${engine}`, async (t) => {
    const { gateway, ask, withKey } = await scene(t, engine);
    const passed = await ask('OPTIONS /api/graph/x?token=secret', [...preflight, withKey, 'X-Custom: 1']);
    t.match(passed, { status: 200, text: 'up' });
    t.same(corsOf(passed), ['Access-Control-Allow-Origin', 'Accept']);
    const [seen] = gateway.upstream.seen;
    t.equal(seen!.target, '/api/graph/x', 'without its query');
    for (const name of ['x-api-key', 'x-auth-subject']) t.same(seen!.values(name), [], name);
    t.same(seen!.values('origin'), [theirs]);

    const read = await ask('GET /api/graph/x', [withKey, `Origin: ${theirs}`]);
    t.match(read, { status: 200, text: 'up' });
    t.same(read!.values('access-control-allow-origin'), [theirs]);
    t.same(corsOf(read), ['Access-Control-Allow-Origin', 'Accept']);
    const fromOurs = await ask('GET /api/graph/x', [withKey, `Origin: ${ours}`]);
    t.same(fromOurs!.values('access-control-allow-origin'), [theirs], 'also for an origin of ours');

    for (const path of ['/api/graph/ours/x', '/api/store/x', '/nowhere', '/api/login/access-token']) {
      const answered = await ask(`OPTIONS ${path}`, [`Origin: ${ours}`, preflight[1]!]);
      t.equal(answered!.status, 204, path);
      t.same(answered!.values('access-control-allow-origin'), [ours]);
    }
    const beside = await ask('GET /api/store/x', [withKey, `Origin: ${ours}`]);
    t.same(beside!.values('access-control-allow-origin'), [ours]);
    t.equal(gateway.upstream.seen.length, 4);
  });

t.test('no refusal on such a route has a header of ours for CORS', async (t) => {
  const { ask, withKey, gateway } = await scene(t);
  const from = `Origin: ${ours}`;
  const rows: [string, string, string[], number][] = [
    ['a 401', 'GET /api/graph/x', [], 401],
    ['a 405', 'PUT /api/graph/x', [withKey], 405],
    ['a 400 for its path', 'GET /api/graph//x', [withKey], 400],
    ['a 400 for two credentials', 'GET /api/graph/x', [withKey, withKey], 400],
    ['a 400 for an escaped letter', 'GET /api/graph/%6Furs/x', [withKey], 400],
    ['a 431', 'GET /api/graph/x', Array.from({ length: 120 }, (_, i) => `X-${i}: a`), 431],
    ['a 400 for a header', 'GET /api/graph/x', ['No colon'], 400],
  ];
  for (const [name, line, lines, status] of rows) {
    const refused = await ask(line, [from, ...lines]);
    t.equal(refused?.status, status, name);
    t.same(corsOf(refused), [], name);
    const elsewhere = await ask(line.replace('/api/graph', '/api/store'), [from, ...lines]);
    if (elsewhere?.status === status)
      t.same(elsewhere.values('access-control-allow-origin'), [ours], `${name} elsewhere`);
  }
  gateway.upstream.response = (request) => request.socket.destroy();
  const failed = await ask('GET /api/graph/x', [from, withKey]);
  t.equal(failed?.status, 502);
  t.same(corsOf(failed), []);
});

t.test('without origins it is the same', async (t) => {
  const { ask, withKey } = await scene(t, 'built_in', []);
  t.same(corsOf(await ask('OPTIONS /api/graph/x', preflight)), ['Access-Control-Allow-Origin', 'Accept']);
  t.equal(
    (await ask('OPTIONS /api/store/x', preflight))?.status,
    401,
    'elsewhere it is a request like any other',
  );
  t.same(corsOf(await ask('GET /api/graph/x', [withKey])), ['Access-Control-Allow-Origin', 'Accept']);
});

t.test('a WebSocket’s handshake has no header of ours for CORS', async (t) => {
  const { gateway } = await scene(t);
  const upgrade = [
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Origin: ${ours}`],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  for (const [path, expected] of [
    ['/api/graph/x', [theirs]],
    ['/api/store/x', [ours]],
  ] as const) {
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw(`GET ${path} HTTP/1.1`, upgrade));
    t.same((await connection.response()).values('access-control-allow-origin'), expected, path);
    connection.reset();
  }
});
