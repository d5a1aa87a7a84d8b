import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { type Check, type Checked, connectCheckClient } from '../support/clients/check-client.ts';
import { startDeciding } from '../support/clients/decisions.ts';
import { eventually } from '../support/gateway/forwarding.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

const routes = [
  { prefix: '/api/store', upstream: 'none', scopes: { read: ['store:read'], write: ['store:write'] } },
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'app' },
];
const upstreams = { app: { url: 'builtin:echo', identity_headers: { 'X-WEBAUTH-USER': 'username' } } };
const config = { routes, upstreams };
/** Identity headers that a later version may send. */
const later = ['x-auth-client-id', 'x-auth-issuer', 'x-auth-delegated', 'x-auth-assurance', 'x-auth_issuer'];
const pseudo = (method: string, path: string): [string, string][] => [
  [':method', method],
  [':path', path],
  [':authority', 'app.example'],
];

t.test('answers to Envoy by gRPC', async (t) => {
  const { portOf, key, keyId, bearer, cookie, logLines } = await startDeciding(t, config);
  const { check, send } = connectCheckClient(t, portOf('envoy_grpc'));

  await t.test('an allowed request', async (t) => {
    const sent: [string, string][] = [
      ...pseudo('GET', '/api/store/x?q'),
      ['x-api-key', key],
      ['cookie', `a=b; ${cookie}`],
      ['x-auth-subject', 'eve'],
      ['x_auth_subject', 'eve'],
      ...later.map((name): [string, string] => [name, 'eve']),
      ['x-script-name', '/x'],
      ['x-forwarded-for', '198.51.100.7'],
      ['x-request-id', 'grpc-1'],
    ];
    const answer = await check({ path: '/api/store/x?q', headerMap: sent });
    t.match(answer, {
      allowed: true,
      headers: {
        'x-auth-subject': /^.{36}$/,
        'x-auth-username': 'ada',
        'x-auth-key-id': keyId,
        'x-webauth-user': undefined,
        'x-request-id': 'grpc-1',
        cookie: 'a=b',
      },
    });
    t.notOk('cache-control' in answer.headers);
    for (const name of [
      'authorization',
      'x-api-key',
      'x_auth_subject',
      ...later,
      'x-script-name',
      'x-auth-session-id',
      'x-webauth-user',
    ])
      t.ok(answer.removed.includes(name), name);
    t.notOk(answer.removed.includes('x-auth-subject'));
    t.match(
      logLines().find(({ request_id }) => request_id === 'grpc-1'),
      { forward_auth: 'envoy_grpc', path: '/api/store/x', address: '192.0.2.7', key: keyId, status: 200 },
    );
  });

  const nobody: Check['headers'] = {};
  const withKey = { 'x-api-key': key };
  type Row = [name: string, check: Check, status: number, code?: string];
  const rows: Row[] = [
    ['a key in headers', { path: '/api/x', headers: withKey }, 200],
    ['a token', { path: '/api/x', headers: { authorization: `Bearer ${bearer}` } }, 200],
    ['nobody on a public route', { path: '/api/open', headers: nobody }, 200],
    ['nobody', { path: '/api/x', headers: nobody }, 401, 'not_authenticated'],
    ['a wrong key', { path: '/api/x', headers: { 'x-api-key': 'pst_x' } }, 401, 'invalid_api_key'],
    [
      'both',
      { path: '/api/x', headers: { ...withKey, authorization: `Bearer ${bearer}` } },
      400,
      'ambiguous_credentials',
    ],
    [
      'a comma in a key',
      { path: '/api/x', headers: { 'x-api-key': `${key},${key}` } },
      400,
      'ambiguous_credentials',
    ],
    [
      'a comma in a token',
      { path: '/api/x', headers: { authorization: `Bearer ${bearer},Bearer x` } },
      400,
      'ambiguous_credentials',
    ],
    [
      'a key twice',
      {
        path: '/api/x',
        headerMap: [
          ['x-api-key', key],
          ['x-api-key', key],
        ],
      },
      400,
      'ambiguous_credentials',
    ],
    [
      'headers, where header_map is filled',
      { path: '/api/x', headers: withKey, headerMap: pseudo('GET', '/api/x') },
      401,
      'not_authenticated',
    ],
    ['no route', { path: '/elsewhere', headers: withKey }, 404, 'not_found'],
    ['an own path', { path: '/api/logout', headers: withKey }, 404, 'not_found'],
    ['a dot segment', { path: '/api/open/../x', headers: withKey }, 400, 'bad_request'],
    ['no path', { path: '', headers: withKey }, 400, 'bad_request'],
    ['no method', { method: '', path: '/api/open', headers: withKey }, 400, 'bad_request'],
    ['an unknown method', { method: 'BREW', path: '/api/open', headers: withKey }, 501, 'not_implemented'],
    [
      'another path in the pseudo-header',
      { path: '/api/open', headerMap: pseudo('GET', '/api/x') },
      400,
      'bad_request',
    ],
    [
      'another method in the pseudo-header',
      { path: '/api/open', headerMap: pseudo('PUT', '/api/open') },
      400,
      'bad_request',
    ],
    [
      'two pseudo-headers',
      { path: '/api/open', headerMap: [...pseudo('GET', '/api/open'), [':path', '/api/open']] },
      400,
      'bad_request',
    ],
    [
      'two authorities',
      { path: '/api/open', headerMap: [...pseudo('GET', '/api/open'), [':authority', 'b']] },
      400,
      'bad_request',
    ],
    ['a host of x?', { path: '/api/open', host: 'x?' }, 400, 'bad_request'],
    [
      'a token as a subprotocol',
      { path: '/api/open', headers: { 'sec-websocket-protocol': 'postern.bearer.x' } },
      400,
      'bad_request',
    ],
    ['a long target', { path: `/api/open/${'x'.repeat(9_000)}` }, 414, 'target_too_long'],
    [
      'many headers',
      {
        path: '/api/open',
        headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, '1'])),
      },
      431,
      'headers_too_large',
    ],
    [
      'a large head',
      { path: '/api/open', headers: { 'x-big': 'x'.repeat(17_000) } },
      431,
      'headers_too_large',
    ],
  ];
  for (const [name, question, status, code] of rows)
    await t.test(name, async (t) => {
      const answer = await check(question);
      t.equal(answer.status, status);
      t.equal(answer.headers['x-auth-code'], code);
      if (code !== undefined) t.match(JSON.parse(answer.body), { code });
      if (status === 401) t.match(answer.headers['www-authenticate'], /^Bearer realm="acme"/);
    });

  await t.test('an unfit question has no method in the log', async (t) => {
    const forged = 'x","forged":"1","y":"\n{"level":"info","audit":true}\n';
    for (const [id, method, status] of [
      ['forged', forged, 400],
      ['unknown', 'BREW', 501],
      ['other', 'GET', 400],
    ] as const) {
      const path = '/api/open';
      const fields: [string, string][] = [[':method', id === 'other' ? 'PUT' : method]];
      const answer = await check({ method, path, headerMap: [...fields, ['x-request-id', `method-${id}`]] });
      t.equal(answer.status, status, id);
    }
    const lines = () => logLines().filter((line) => /^method-/.test(String(line.request_id)));
    await eventually(() => lines().length === 3);
    for (const line of lines()) t.match(line, { msg: 'request', method: '', forged: undefined });
  });

  const nothing: [name: string, bytes: Buffer][] = [
    ['no attributes', Buffer.alloc(0)],
    ['no request', Buffer.from([0x0a, 0x00])],
    ['no message', Buffer.from([0xff, 0xff, 0xff])],
  ];
  for (const [name, bytes] of nothing) t.match(await send(bytes), { status: 400, allowed: false }, name);
});

t.test('the address ends with the source', async (t) => {
  const { portOf, logLines } = await startDeciding(t, { ...config, trusted_proxies: ['10.0.0.0/8'] });
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  const rows: [forwardedFor: string, source: string, address: string][] = [
    ['203.0.113.9', '198.51.100.7', '198.51.100.7'],
    ['203.0.113.9', '10.1.2.3', '203.0.113.9'],
    ['203.0.113.9, nobody', '10.1.2.3', ''],
    ['', '10.1.2.3', ''],
  ];
  for (const [index, [forwardedFor, source, address]] of rows.entries()) {
    const headers = { 'x-request-id': `address-${index}`, 'x-forwarded-for': forwardedFor };
    t.equal((await check({ path: '/api/open', source, headers })).status, 200);
    t.match(
      logLines().find(({ request_id }) => request_id === `address-${index}`),
      { address },
      `${index}`,
    );
  }
});

t.test('a key that is revoked is refused by the next question on the same connection', async (t) => {
  const { portOf, api, bearer } = await startDeciding(t, config);
  const { id, key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  const question = { path: '/api/store/x', headers: { 'x-api-key': key } };
  t.equal((await check(question)).status, 200);
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer });
  t.equal((await check(question)).status, 401);
});

t.test('a peer that may not ask is refused and disconnected', async (t) => {
  const { portOf, managementPort } = await startDeciding(t, config, { proxies: ['192.0.2.0/24'] });
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  t.match(await check({ path: '/api/open' }), {
    status: 403,
    headers: { 'x-auth-code': 'address_not_allowed' },
  });
  let open = Number.NaN;
  const scrape = async () => {
    const text = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
    open = Number(/^postern_decision_connections (\d+)$/m.exec(text)?.[1]);
  };
  const polling = setInterval(() => void scrape(), 50);
  await eventually(() => open === 0).finally(() => clearInterval(polling));
});

t.test('over TLS, and until the end of a drain', async (t) => {
  const folder = t.testdir();
  const { cert } = makeCertificate(folder, 'a', ['DNS:localhost']);
  const tls = { cert: join(folder, 'a.crt'), key: join(folder, 'a.key') };
  const { decisionPorts, stop } = await startDeciding(t, {
    ...config,
    forward_auth: [{ mode: 'envoy_grpc', port: 0, host: 'localhost', proxies: ['127.0.0.1', '::1'], tls }],
  });
  const { check } = connectCheckClient(t, decisionPorts[0]!, { ca: Buffer.from(cert) });
  const answers: Checked[] = await Promise.all(
    Array.from({ length: 20 }, () => check({ path: '/api/open' })),
  );
  t.ok(answers.every(({ allowed }) => allowed));
  await stop();
  await t.rejects(check({ path: '/api/open' }));
});

t.test('the library for gRPC is loaded only for such a listener', async (t) => {
  const program = `
    await import(${JSON.stringify(new URL('../../src/serve/start-gateway.ts', import.meta.url))});
    await import(${JSON.stringify(new URL('../../src/listeners/listeners.ts', import.meta.url))});
    const { createRequire } = await import('node:module');
    const require = createRequire(${JSON.stringify(import.meta.url)});
    console.log(Object.keys(require.cache).filter((file) => /grpc|protobufjs/.test(file)).length);
  `;
  const args = ['--input-type=module', '--eval', program];
  t.equal((await promisify(execFile)(process.execPath, args)).stdout, '0\n');
});
