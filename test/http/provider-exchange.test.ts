import t from 'tap';
import { foreign } from '../support/corpora/forged-assertions.ts';
import { missing, notAString } from '../support/corpora/problems.ts';
import { type Browser, refreshCookieOf, startProviderGateway } from '../support/gateway/provider-gateway.ts';

const path = '/api/login/idp/exchange';

t.test('an assertion is exchanged for a session, once', async (t) => {
  const { begin, assertion, exchange, api, upstream, auditLines } = await startProviderGateway(t);
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const made = assertion({ nonce, preferred_username: 'alice' });
  const response = await exchange(browser, made);
  t.equal(response.status, 200, response.text);
  t.same(Object.keys(response.json), ['access_token', 'token_type', 'expires_in', 'scope']);
  t.match(response.json, { token_type: 'bearer', expires_in: 600, scope: '' });
  t.match(response.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  const cleared = `${browser.cookie!.split('=')[0]}=; Max-Age=0; Path=/api/login; HttpOnly; Secure; SameSite=Lax`;
  t.match(response.setCookies, [/^service_refresh_cookie=[0-9a-f-]{36}\.1\.[\w-]{43}; /, cleared]);
  t.equal(response.setCookies.length, 2);

  await api.send({ path: '/api/asset', bearer: response.json.access_token });
  t.same(upstream.seen[0]!.values('x-auth-username'), ['alice']);
  t.same(upstream.seen[0]!.values('x-auth-method'), ['session']);

  const again = await exchange(browser, made);
  t.match(again, {
    status: 401,
    json: { code: 'invalid_assertion', error: 'invalid_grant' },
    setCookies: [],
  });
  t.equal(again.headers['www-authenticate'], 'Bearer realm="acme"');
  t.equal(again.headers['referrer-policy'], 'no-referrer');
  const userId = upstream.seen[0]!.values('x-auth-subject')[0];
  const provider = 'idp';
  const session = refreshCookieOf(response).split('=')[1]!.split('.')[0];
  t.match(auditLines(), [
    {
      event: 'user_created',
      outcome: 'success',
      actor: { user: null, kind: 'provider' },
      subject: userId,
      provider,
    },
    {
      event: 'login_succeeded',
      outcome: 'success',
      actor: { user: userId, session },
      subject: userId,
      session,
      provider,
    },
    {
      event: 'login_failed',
      outcome: 'failure',
      actor: { kind: 'anonymous' },
      subject: null,
      provider,
      reason: /\w/,
    },
  ]);
});

t.test('a form does what a query does', async (t) => {
  const { begin, assertion, api } = await startProviderGateway(t);
  const browser: Browser = {};
  const { nonce } = await begin(browser, { query: '?return_to=/assets%3Fpage=2' });
  const form = { assertion: assertion({ nonce }), unknown: 'x' };
  const response = await api.send({ method: 'POST', path: `${path}/`, form, cookie: browser.cookie });
  t.match(response, { status: 200, json: { return_to: '/assets?page=2' } });
  t.equal(response.headers['referrer-policy'], 'no-referrer');
});

t.test('a code is redeemed at the provider, whose tokens stay here', async (t) => {
  const idp = { response: 'code', client_secret: 'a secret of the client' };
  const { begin, assertion, respondToCode, api, stub, logLines } = await startProviderGateway(t, { idp });
  const browser: Browser = {};
  const { state, nonce } = await begin(browser, { query: '?return_to=/in' });
  respondToCode(assertion({ nonce }));
  const query = `code=the-code-it-gave&state=${state}&iss=${encodeURIComponent(stub.origin)}&session_state=x`;
  const response = await api.send({ path: `${path}?${query}`, cookie: browser.cookie });
  t.match(response, { status: 200, json: { return_to: '/in' } });
  t.equal(stub.count('/token'), 1);
  t.notMatch(response.text, /token-of-the-provider/);
  t.notMatch(JSON.stringify(logLines()), /token-of-the-provider|the-code-it-gave/);
});

t.test('a code with another issuer is sent to no provider', async (t) => {
  const { begin, api, stub } = await startProviderGateway(t, { idp: { response: 'code' } });
  const browser: Browser = {};
  const { state } = await begin(browser);
  const query = `code=c&state=${state}&iss=https%3A%2F%2Fother.example`;
  const response = await api.send({ path: `${path}?${query}`, cookie: browser.cookie });
  t.match(response, { status: 401, json: { code: 'invalid_assertion' } });
  t.equal(stub.count('/token'), 0);
});

t.test('two sign-ins of one browser do not disturb each other', async (t) => {
  const { begin, assertion, exchange } = await startProviderGateway(t, { idp: {}, other: {} });
  const browser: Browser = {};
  const first = await begin(browser);
  const second = await begin(browser);
  const elsewhere = await begin(browser, { provider: 'other' });
  t.equal((await exchange(browser, assertion({ nonce: second.nonce }))).status, 200);
  t.equal((await exchange(browser, assertion({ nonce: first.nonce }))).status, 200);
  t.equal((await exchange(browser, assertion({ nonce: elsewhere.nonce }), 'other')).status, 200);
});

t.test('only the browser that began can end it, at the provider it began at', async (t) => {
  const { begin, assertion, exchange, advance } = await startProviderGateway(t, { idp: {}, other: {} });
  const attacker: Browser = {};
  const victim: Browser = {};
  const { nonce } = await begin(attacker);
  await begin(victim);
  const made = assertion({ nonce });
  const refused = { status: 401, json: { code: 'invalid_assertion' }, setCookies: [] };
  t.match(await exchange(victim, made), refused, 'another browser');
  t.match(await exchange({}, made), refused, 'a browser without a start');
  const swapped = `${attacker.cookie!.split('=')[0]}=${victim.cookie!.split('=')[1]}`;
  t.match(await exchange({ cookie: swapped }, made), refused, 'the value of another start');
  t.match(await exchange(attacker, made, 'other'), refused, 'another provider');
  t.match(await exchange(attacker, assertion({})), refused, 'no nonce');
  t.match(await exchange(attacker, assertion({ nonce }, foreign)), refused, 'another key');
  const planted = { cookie: `${swapped}; ${attacker.cookie}` };
  t.equal((await exchange(planted, made)).status, 200, 'none of that consumed it, nor did a planted cookie');
  const late = await begin(attacker);
  advance(601_000);
  const seconds = Math.floor(Date.now() / 1000) + 601;
  const fresh = assertion({ nonce: late.nonce, iat: seconds, exp: seconds + 60 });
  t.match(await exchange(attacker, fresh), refused, 'a start that is over');
});

t.test('twenty at once with one assertion are one session', async (t) => {
  const { begin, assertion, exchange } = await startProviderGateway(t);
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const made = assertion({ nonce });
  const responses = await Promise.all(Array.from({ length: 20 }, () => exchange(browser, made)));
  const statuses = responses.map(({ status }) => status).sort();
  t.same(statuses, [200, ...Array(19).fill(401)]);
});

t.test('without a start an assertion counts where that is configured, once', async (t) => {
  const { assertion, exchange } = await startProviderGateway(t, { idp: { unsolicited: true } });
  const made = assertion();
  const responses = await Promise.all(Array.from({ length: 5 }, () => exchange({}, made)));
  t.same(responses.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
  t.notOk('return_to' in responses.find(({ status }) => status === 200)!.json);
});

t.test('missing and repeated fields are reported, and their values never shown', async (t) => {
  const { api } = await startProviderGateway(t, { idp: {}, coded: { response: 'code' } });
  const coded = '/api/login/coded/exchange';
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'content-type': 'application/json' };
  const twice = (where: string, name: string) => notAString([where, name], null);
  const rows: [string, object, object[]][] = [
    ['nothing in the query', { path }, [missing('query', 'assertion')]],
    ['the fields of a code instead', { path: `${path}?code=a&state=b` }, [missing('query', 'assertion')]],
    ['twice', { path: `${path}?assertion=a&assertion=b` }, [twice('query', 'assertion')]],
    [
      'nothing, where a code is wanted',
      { path: coded },
      [missing('query', 'code'), missing('query', 'state')],
    ],
    ['an assertion instead', { path: `${coded}?assertion=a&code=b` }, [missing('query', 'state')]],
    [
      'both twice, and the issuer',
      { path: `${coded}?code=a&code=b&state=c&state=d&iss=e&iss=f` },
      [twice('query', 'code'), twice('query', 'state'), notAString(['query', 'iss'], ['e', 'f'])],
    ],
    [
      'a form without fields',
      { method: 'POST', path: `${path}?assertion=a`, headers: form },
      [missing('body', 'assertion')],
    ],
    [
      'a blank field',
      { method: 'POST', path, body: 'assertion=', headers: form },
      [missing('body', 'assertion')],
    ],
    [
      'a repeated field',
      { method: 'POST', path, body: 'assertion=a&assertion=a', headers: form },
      [twice('body', 'assertion')],
    ],
    [
      'JSON',
      { method: 'POST', path, body: '{"assertion":"a"}', headers: json },
      [missing('body', 'assertion')],
    ],
  ];
  for (const [name, sent, detail] of rows) {
    const response = await api.send({ path, ...sent });
    t.equal(response.status, 422, name);
    t.same(response.json.detail, detail, name);
    t.match(response.json, { code: 'validation_error', error: 'invalid_request' });
    t.equal(response.headers['referrer-policy'], 'no-referrer');
  }
});

t.test('other methods are 405, HEAD too, and credentials are ignored', async (t) => {
  const { api, begin, assertion } = await startProviderGateway(t);
  for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH']) {
    const response = await api.send({ method, path: `${path}?assertion=a` });
    t.equal(response.status, 405, method);
    t.equal(response.headers.allow, 'GET, POST, OPTIONS');
    t.equal(response.headers['referrer-policy'], 'no-referrer');
    if (method !== 'HEAD') t.equal(response.json.error, 'invalid_request');
  }
  const unknown = await api.send({ path: '/api/login/nobody/exchange?assertion=a' });
  t.match(unknown, {
    status: 404,
    json: { code: 'not_found', error: 'invalid_request' },
    headers: { 'referrer-policy': 'no-referrer' },
  });
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const headers = { authorization: 'Bearer stale', 'x-api-key': 'stale', cookie: browser.cookie! };
  const response = await api.send({ path: `${path}?assertion=${assertion({ nonce })}`, headers });
  t.equal(response.status, 200);
});

t.test('the query of an exchange is in no line of the log', async (t) => {
  const { api, begin, exchange, assertion, logLines } = await startProviderGateway(t);
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const made = assertion({ nonce });
  await exchange(browser, made);
  await exchange(browser, made);
  await api.send({ path: `${path}?assertion=${made}&assertion=${made}` });
  await api.send({ method: 'PUT', path: `${path}?assertion=${made}` });
  await api.send({ path: `${path}//?assertion=${made}` });
  const text = JSON.stringify(logLines());
  t.notMatch(text, made.slice(-40));
  t.notMatch(text, nonce.slice(-40));
  t.notMatch(text, 'assertion=');
  t.match(
    logLines().filter(({ status }) => status === 200),
    [{ route: '/api/login/idp/start' }, { path, route: path }],
  );
});

t.test('a page of another origin can sign in, with credentials', async (t) => {
  const origin = 'https://front.example';
  const cors = { cors: { origins: [origin] } };
  const { api, begin, assertion } = await startProviderGateway(t, { idp: {} }, cors);
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const headers = { origin, cookie: browser.cookie! };
  const form = { assertion: assertion({ nonce }) };
  const response = await api.send({ method: 'POST', path, form, headers });
  t.match(response, {
    status: 200,
    headers: { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' },
  });
});
