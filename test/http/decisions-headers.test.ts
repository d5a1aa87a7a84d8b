import t from 'tap';
import { httpModes, startDeciding } from '../support/clients/decisions.ts';

const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'app' },
];
const upstreams = { app: { url: 'builtin:echo', identity_headers: { 'X-WEBAUTH-USER': 'username' } } };
const headers = { drop: ['X-Secret-Switch'] };
const config = { routes, upstreams, headers };

/** What the gateway would have dropped, by which an upstream could be led astray. */
const aliases = [
  'X_Auth_Subject: eve',
  'x.auth.subject: eve',
  'X-Auth_Subject: eve',
  'X-Auth-Role: admin',
  'X-Auth-Client-Id: eve',
  'X-Auth-Issuer: https://evil.example',
  'X-Auth-Delegated: true',
  'X-Auth-Assurance: high',
  'X_Auth_Client_Id: eve',
  'X_API_Key: a',
  'Content_Type: a/b',
  'X_Forwarded_For: 203.0.113.9',
  'X_WEBAUTH_USER: eve',
  'Script-Name: /x',
  'Path-Info: /x',
  'Daphne-Root-Path: /x',
  'X-Script-Name: /x',
  'X-Rewrite-URL: /x',
  'Remote-User: eve',
  'X-Remote-User: eve',
  'Remote-Addr: 203.0.113.9',
  'Forwarded: for=203.0.113.9',
  'Proxy: http://evil.example',
  'X-Forwarded-Prefix: /x',
  'X-Forwarded-User: eve',
  'X-HTTP-Method-Override: DELETE',
  'X-HTTP-Method: DELETE',
  'x_method_override: DELETE',
  'X-Secret-Switch: on',
  'x_secret_switch: on',
];
/** What proxies set, connections need, or nobody takes for anything. */
const harmless = [
  'X-Forwarded-Proto: https',
  'Keep-Alive: timeout=5',
  'TE: trailers',
  'Sentry-Trace: 1',
  'X_Custom: 1',
  'Mcp-Param-user_id: 1',
  'X-Auth-Subject: eve',
  'x-auth-scopes: everything',
  'X-Auth-Assertion: a.b.c',
  'X-WEBAUTH-USER: eve',
  'Cookie: a=b',
  // Neither read nor answered: the request isn't forwarded here.
  'Postern-Via: a, b',
];

t.test(
  'a header that the proxy would pass on is refused, unless the configuration says otherwise',
  async (t) => {
    const deciding = await startDeciding(t, config);
    const passing = await startDeciding(t, config, { client_headers: 'pass' });
    for (const mode of httpModes.filter((mode) => mode !== 'envoy')) {
      const status = mode.endsWith('nginx') ? 403 : 400;
      for (const line of aliases) {
        const lines = [line, `X-API-Key: ${deciding.key}`];
        const refused = await deciding.ask(mode, { target: '/api/x', lines });
        t.match(refused, { status, json: { code: 'bad_request' } }, `${mode} ${line}`);
        t.equal(
          (await passing.ask(mode, { target: '/api/open', lines: [line] })).status,
          200,
          `${mode} ${line}`,
        );
      }
      for (const line of harmless) {
        const allowed = await deciding.ask(mode, { target: '/api/open', lines: [line] });
        t.equal(allowed.status, 200, `${mode} ${line}`);
        t.strictSame(allowed.values('postern-via'), []);
      }
    }
    const token = { target: '/api/open', lines: ['Sec-WebSocket-Protocol: postern.bearer.x'] };
    t.equal((await passing.ask('caddy', token)).status, 400, 'a token never passes');
  },
);

t.test('parameters of MCP that a server may take for one are refused', async (t) => {
  const { ask } = await startDeciding(t, config);
  const lines = ['Mcp-Param-a_b: 1', 'mcp-param-a-b: 1'];
  for (const mode of httpModes) {
    const status = mode.endsWith('nginx') ? 403 : 400;
    t.match(await ask(mode, { target: '/api/open', lines }), { status, json: { code: 'bad_request' } }, mode);
    t.equal((await ask(mode, { target: '/api/open', lines: [lines[0]!, lines[0]!] })).status, 200, mode);
  }
});

t.test('headers by which other proxies describe requests are refused, too', async (t) => {
  const { ask } = await startDeciding(t, config);
  const rows = [
    ['nginx', 'X-Original-URL: /x', 403],
    ['nginx', 'X-Forwarded-Uri: /x', 403],
    // No host is read here, and the proxy would pass the header on.
    ['nginx', 'X-Original-Host: x', 403],
    ['haproxy', 'X-Original-Host: x', 400],
    ['caddy', 'X-Original-Host: x', 400],
    ['nginx', 'X-Auth-Request-Redirect: /x', 403],
    ['nginx', 'X-Real-IP: 203.0.113.9', 200],
    ['nginx', 'X-Forwarded-Port: 80', 403],
    ['ingress_nginx', 'X-Real-IP: 203.0.113.9', 200],
    ['ingress_nginx', 'X-Forwarded-Port: 80', 200],
    ['haproxy', 'X-Real-IP: 203.0.113.9', 400],
    ['haproxy', 'X-Forwarded-Port: 80', 400],
    ['caddy', 'X-Real-IP: 203.0.113.9', 400],
    ['caddy', 'X-Forwarded-Port: 80', 400],
    ['traefik', 'X-Real-IP: 203.0.113.9', 200],
    ['traefik', 'X-Forwarded-Port: 80', 200],
    ['ingress_nginx', 'X-Original-URI: /x', 403],
    ['haproxy', 'X-Forwarded-Method: GET', 400],
    ['traefik', 'X-Original-URI: /x', 400],
    ['caddy', 'X-Forwarded-Server: x', 400],
    ['traefik', 'X-Forwarded-Server: x', 200],
  ] as const;
  for (const [mode, line, status] of rows)
    t.equal((await ask(mode, { target: '/api/open', lines: [line] })).status, status, `${mode} ${line}`);
});

t.test('a method override passes where the gateway lets it through', async (t) => {
  const { ask } = await startDeciding(t, { ...config, headers: { method_override: 'pass' } });
  const lines = ['X-HTTP-Method-Override: DELETE'];
  t.equal((await ask('caddy', { target: '/api/open', lines })).status, 200);
  t.equal((await ask('caddy', { target: '/api/open', lines: ['X_HTTP_Method: DELETE'] })).status, 400);
});

t.test('an application’s own names stay, except for services with an assertion', async (t) => {
  const own = { ...config, headers: { pass: ['X-Auth-Token'] } };
  const deciding = await startDeciding(t, own);
  const signing = await startDeciding(t, own, { assertion: { audience: 'app' } });
  for (const mode of httpModes.filter((mode) => mode !== 'envoy')) {
    const refused = mode.endsWith('nginx') ? 403 : 400;
    const statusOf = async (on: typeof deciding, line: string) =>
      (await on.ask(mode, { target: '/api/open', lines: [line] })).status;
    t.equal(await statusOf(deciding, 'x-auth-token: a'), 200, mode);
    t.equal(await statusOf(deciding, 'X_Auth_Token: a'), refused, mode);
    t.equal(await statusOf(deciding, 'X-Auth-Role: a'), refused, mode);
    t.equal(await statusOf(signing, 'X-Auth-Token: a'), refused, mode);
  }
  const removedBy = async (on: typeof deciding) => {
    const answer = await on.ask('envoy', {
      target: '/api/open',
      lines: ['X-Auth-Token: a', 'X-Auth-Role: a'],
    });
    const removed = answer.values('x-envoy-auth-headers-to-remove')[0]!.split(',');
    return ['x-auth-token', 'x-auth-role'].filter((name) => removed.includes(name));
  };
  t.strictSame(await removedBy(deciding), ['x-auth-role']);
  t.strictSame(await removedBy(signing), ['x-auth-token', 'x-auth-role']);
});

t.test('headers with fixed values are the proxy’s business, and none of the client’s', async (t) => {
  const fixed = { 'X-Shared-Secret': 'geheim-geheim', Authorization: 'Basic Z2VoZWltOmdlaGVpbQ==' };
  const { ask, secrets, key } = await startDeciding(t, {
    ...config,
    upstreams: { app: { url: 'http://127.0.0.1:9', headers: fixed } },
  });
  for (const secret of Object.values(fixed)) secrets.add(secret);
  const target = '/api/x';
  for (const mode of httpModes) {
    const allowed = await ask(mode, { target, lines: [`X-API-Key: ${key}`] });
    t.equal(allowed.status, 200, mode);
    t.notMatch(allowed.rawHeaders.join('\n'), /geheim|Z2VoZWlt|shared-secret/i, mode);
  }
  for (const line of ['X-Shared-Secret: a', 'X_Shared_Secret: a']) {
    t.equal((await ask('caddy', { target, lines: [line, `X-API-Key: ${key}`] })).status, 400, line);
    const [removed] = (await ask('envoy', { target, lines: [line, `X-API-Key: ${key}`] })).values(
      'x-envoy-auth-headers-to-remove',
    );
    t.match(removed, line.split(':')[0]!.toLowerCase());
  }
});

t.test('envoy is told what to overwrite and what to remove', async (t) => {
  const { ask, key, keyId, cookie } = await startDeciding(t, config);
  const listIn = (answer: Awaited<ReturnType<typeof ask>>) => {
    const [list] = answer.values('x-envoy-auth-headers-to-remove');
    return list!.split(',');
  };
  const lines = [`X-API-Key: ${key}`, `Cookie: a=b; ${cookie}; c=d`, ...aliases];
  const answer = await ask('envoy', { target: '/api/x', lines });
  t.equal(answer.status, 200);
  t.strictSame(answer.values('x-auth-key-id'), [keyId]);
  t.strictSame(answer.values('x-webauth-user'), ['ada']);
  t.strictSame(answer.values('cookie'), ['a=b; c=d'], 'without our cookie');
  t.strictSame(answer.values('x-auth-session-id'), [], 'absent ones are removed');
  const removed = listIn(answer);
  for (const line of aliases) t.ok(removed.includes(line.split(':')[0]!.toLowerCase()), line);
  for (const name of ['authorization', 'x-api-key', 'x-auth-session-id', 'x-auth-assertion'])
    t.ok(removed.includes(name), name);
  for (const name of ['x-auth-subject', 'x-webauth-user', 'cookie', 'host'])
    t.notOk(removed.includes(name), name);

  const nobody = await ask('envoy', {
    target: '/api/open',
    lines: ['X-Auth-Subject: eve', `Cookie: ${cookie}`],
  });
  t.equal(nobody.status, 200);
  for (const name of ['x-auth-subject', 'x-auth-scopes', 'x-auth-tenant', 'x-webauth-user', 'cookie'])
    t.ok(listIn(nobody).includes(name), name);
  t.strictSame(nobody.values('x-auth-subject'), []);
  t.notOk(listIn(await ask('envoy', { target: '/api/open', lines: ['Cookie: a=b'] })).includes('cookie'));
});

t.test('envoy joins repeated fields with commas: a credential with one may have been two', async (t) => {
  const { ask, key, bearer } = await startDeciding(t, config);
  const rows = [
    ['X-API-Key', `${key},${key}`],
    ['X-API-Key', `${key},`],
    ['Authorization', `Bearer ${bearer},Bearer x`],
    ['Authorization', `Basic eA==,Bearer ${bearer}`],
  ];
  for (const [name, value] of rows)
    for (const target of ['/api/x', '/api/open']) {
      const answer = await ask('envoy', { target, lines: [`${name}: ${value}`] });
      t.match(answer, { status: 400, json: { code: 'ambiguous_credentials' } }, `${target} ${name}`);
    }
  const elsewhere = await ask('caddy', { target: '/api/x', lines: [`X-API-Key: ${key},`] });
  t.match(elsewhere, { status: 401, json: { code: 'invalid_api_key' } }, 'others pass on each by itself');
  const unrouted = await ask('envoy', { target: '/nowhere', lines: ['X-API-Key: a,b'] });
  t.equal(unrouted.status, 404, 'after the route');
});
