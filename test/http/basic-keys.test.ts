import t, { type Test } from 'tap';
import { exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';

const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`;
const keysPath = '/api/admin/api-keys/';

function start(t: Test, more: object = {}): Promise<Forwarding> {
  return startForwarding(t, { api_keys: { basic: true }, ...more });
}

/** Sends a request as bytes. */
async function send(
  { port }: Forwarding,
  path: string,
  lines: readonly string[],
  method = 'GET',
): Promise<RawResponse> {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: acme.example.com', 'Connection: close', ...lines];
  const { responses } = await exchangeRaw(port, `${head.join('\r\n')}\r\n\r\n`);
  return responses[0]!;
}

t.test('a key is the password of Basic, or its user name if there is no password', async (t) => {
  const gateway = await start(t);
  const { key, keyId, upstream } = gateway;
  const sent = [
    basic(`ada:${key}`),
    basic(`:${key}`),
    basic(`${key}:`),
    basic(`Zoë:${key}`),
    basic(`pst_other:${key}`),
    basic(`ada:${key}`).replace(/=+$/, ''),
    basic(`ada:${key}`).replace('Basic', 'bASIC'),
    `Authorization: Basic ${Buffer.from(`\u{fffe}?>~:${key}`).toString('base64url')}`,
  ];
  for (const line of sent) {
    t.equal((await send(gateway, '/api/store/x', [line])).status, 200, line);
    const seen = upstream.seen.at(-1)!;
    t.strictSame([seen.values('x-auth-key-id'), seen.values('x-auth-username')], [[keyId], ['ada']]);
    t.strictSame([seen.values('authorization'), seen.values('x-auth-method')], [[], ['api_key']]);
  }
  t.equal((await send(gateway, keysPath, [basic(`x:${key}`)])).status, 200, 'on own endpoints, too');
  t.match(await send(gateway, '/api/logout', [basic(`x:${key}`)]), {
    status: 403,
    json: { code: 'session_required' },
  });
  t.match(await send(gateway, '/api/logout', [basic(`x:${key.slice(0, -1)}!`)]), { status: 401 });
  const scoped = await send(gateway, '/api/store/x', [basic(`x:${key}`)], 'DELETE');
  t.equal(scoped.status, 200, 'with the scopes of the key');
});

t.test(
  'a key that is wrong or elsewhere is refused, and any other Basic is as without the switch',
  async (t) => {
    const gateway = await start(t);
    const { key, bearer, api, keyId, upstream } = gateway;
    const refused = async (line: string, code = 'invalid_api_key') => {
      for (const path of ['/api/store/x', '/api/open/x', keysPath])
        t.match(await send(gateway, path, [line]), { status: 401, json: { code } }, `${path} ${line}`);
    };
    await refused(basic('ada:pst_nothing'));
    await refused(basic(`${key}:x`));
    await refused(basic(`ada: ${key}`));
    await refused(basic(`ada:x:${key}`));
    await refused(basic(key));
    await refused(`Authorization: Basic ${key}`);
    await refused(`${basic(`ada:${key}`)} x`);
    for (const line of [basic('ada:secret'), basic(`ada:${bearer}`), 'Authorization: Basic !']) {
      t.match(await send(gateway, '/api/store/x', [line]), {
        status: 401,
        json: { code: 'not_authenticated' },
      });
      t.equal((await send(gateway, '/api/open/x', [line])).status, 200, 'public routes ignore it');
      t.strictSame(upstream.seen.at(-1)!.values('x-auth-subject'), []);
    }
    for (const other of [`X-API-Key: ${key}`, 'X-API-Key: x', `Authorization: Bearer ${bearer}`])
      for (const path of ['/api/store/x', '/api/open/x', keysPath])
        t.match(await send(gateway, path, [basic(`ada:${key}`), other]), {
          status: 400,
          json: { code: 'ambiguous_credentials' },
        });
    t.equal((await send(gateway, '/api/open/x', [basic('a:b'), `X-API-Key: ${key}`])).status, 200);
    await api.send({ method: 'DELETE', path: `${keysPath}${keyId}`, bearer });
    await refused(basic(`ada:${key}`));
  },
);

t.test('without the switch no key counts by Basic', async (t) => {
  const gateway = await start(t, { api_keys: {} });
  const line = basic(`ada:${gateway.key}`);
  t.match(await send(gateway, '/api/store/x', [line]), { status: 401, json: { code: 'not_authenticated' } });
  t.equal((await send(gateway, '/api/open/x', [line])).status, 200);
  t.strictSame(gateway.upstream.seen[0]!.values('authorization'), []);
});

const own = 'https://acme.example.com';
const front = 'https://front.example';
const page = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
const script = ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty'];
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];

t.test('a browser sends Basic by itself, so pages of others may not make it do so', async (t) => {
  const gateway = await start(t, { cors: { origins: [front] } });
  const rows: readonly [sentence: string, method: string, lines: readonly string[], status: number][] = [
    ['a program', 'POST', [], 200],
    ['a person types the address', 'GET', ['Sec-Fetch-Site: none', ...page], 200],
    ['a page of ours reads', 'GET', ['Sec-Fetch-Site: same-origin', ...script], 200],
    ['a page of ours writes', 'PUT', ['Sec-Fetch-Site: same-origin', `Origin: ${own}`, ...script], 200],
    ['a browser without Fetch metadata', 'PUT', [`Origin: ${own}`], 200],
    ['a link of another site', 'GET', ['Sec-Fetch-Site: cross-site', ...page], 200],
    ['a link of a neighbour', 'GET', ['Sec-Fetch-Site: same-site', ...page], 200],
    ['a form of another site', 'POST', ['Sec-Fetch-Site: cross-site', 'Origin: null', ...page], 403],
    ['a form of a neighbour', 'POST', ['Sec-Fetch-Site: same-site', `Origin: ${own}`, ...page], 403],
    ['an image of another site', 'GET', ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'], 403],
    [
      'a frame of another site',
      'GET',
      ['Sec-Fetch-Site: cross-site', page[0]!, 'Sec-Fetch-Dest: iframe'],
      403,
    ],
    ['a script of a neighbour', 'GET', ['Sec-Fetch-Site: same-site', ...script], 403],
    ['a CORS partner reads', 'GET', ['Sec-Fetch-Site: cross-site', `Origin: ${front}`, ...script], 403],
    ['a CORS partner without Fetch metadata', 'GET', [`Origin: ${front}`], 403],
    ['and asks for HTML', 'GET', [`Origin: ${front}`, 'Accept: text/html'], 403],
    ['an origin that is none', 'GET', ['Origin: null'], 403],
    ['two origins', 'GET', [`Origin: ${own}`, `Origin: ${own}`], 403],
    ['two sites', 'GET', ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'], 403],
    ['a WebSocket of a program', 'GET', upgrade, 200],
    ['a WebSocket of ours', 'GET', [...upgrade, `Origin: ${own}`], 200],
    [
      'a WebSocket of ours, whatever the site',
      'GET',
      [...upgrade, `Origin: ${own}`, 'Sec-Fetch-Site: cross-site'],
      200,
    ],
    ['a WebSocket of another', 'GET', [...upgrade, 'Origin: https://evil.example'], 403],
    [
      'and so it says',
      'GET',
      [...upgrade, 'Origin: https://evil.example', 'Sec-Fetch-Site: same-origin'],
      403,
    ],
    ['a WebSocket of a partner', 'GET', [...upgrade, `Origin: ${front}`], 403],
    ['one that hides its origin', 'GET', [...upgrade, 'Sec-Fetch-Site: none'], 403],
  ];
  const line = basic(`ada:${gateway.key}`);
  for (const [sentence, method, lines, status] of rows)
    for (const path of ['/api/store/x', '/api/open/x']) {
      const response = await send(gateway, path, [line, ...lines], method);
      t.equal(response.status, status, `${sentence}, ${path}`);
      if (status === 403) t.equal(response.json.code, 'cross_site');
      const asHeader = await send(gateway, path, [`X-API-Key: ${gateway.key}`, ...lines], method);
      t.equal(asHeader.status, 200, `${sentence}, with X-API-Key`);
    }
  const foreign = [line, 'Sec-Fetch-Site: cross-site', ...script];
  t.match(await send(gateway, keysPath, foreign), { status: 403, json: { code: 'cross_site' } });
  t.match(await send(gateway, '/api/logout', foreign), { status: 403, json: { code: 'cross_site' } });
});

t.test('no shared cache keeps the response to a key by Basic', async (t) => {
  const gateway = await start(t);
  gateway.upstream.response = (_request, response) =>
    response.writeHead(200, { 'cache-control': 'public, s-maxage=60, max-age=60' }).end();
  const cached = async (line: string) =>
    (await send(gateway, '/api/store/x', [line])).values('cache-control');
  t.strictSame(await cached(basic(`x:${gateway.key}`)), ['private, max-age=60']);
  t.strictSame(await cached(`Authorization: Bearer ${gateway.bearer}`), ['public, s-maxage=60, max-age=60']);
});
