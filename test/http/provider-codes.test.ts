import t from 'tap';
import { eddsa, foreign, jwkOf } from '../support/corpora/forged-assertions.ts';
import { missing } from '../support/corpora/problems.ts';
import { type Browser, startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { json, publish } from '../support/servers/stub-provider.ts';

const path = '/api/login/idp/exchange';
const coded = { idp: { response: 'code' } };

t.test('a code that comes twenty times at once is sent once and signs in once', async (t) => {
  const { begin, assertion, respondToCode, api, stub, auditLines } = await startProviderGateway(t, coded);
  const browser: Browser = {};
  const { state, nonce } = await begin(browser);
  respondToCode(assertion({ nonce }));
  const sent = { path: `${path}?code=c&state=${state}`, cookie: browser.cookie };
  const responses = await Promise.all(Array.from({ length: 20 }, () => api.send(sent)));
  t.same(responses.map(({ status }) => status).sort(), [200, ...Array(19).fill(401)]);
  t.equal(stub.count('/token'), 1);
  t.equal((await api.send(sent)).status, 401);
  t.equal((await api.send({ ...sent, path: `${path}?code=another&state=${state}` })).status, 401);
  t.equal(stub.count('/token'), 1, 'nor is another code for that start');
  const events = auditLines().map(({ event }) => event);
  t.equal(events.filter((event) => event === 'login_succeeded').length, 1);
  t.equal(events.filter((event) => event === 'login_failed').length, 21);
});

t.test('a provider that asks for a code later gets it later', async (t) => {
  const { begin, assertion, respondToCode, api, stub, auditLines, logLines } = await startProviderGateway(
    t,
    coded,
  );
  const browser: Browser = {};
  const { state, nonce } = await begin(browser);
  stub.responses.set('/token', json({ error: 'temporarily_unavailable' }, 503));
  const sent = { path: `${path}?code=c&state=${state}`, cookie: browser.cookie };
  const refused = await api.send(sent);
  t.match(refused, { status: 503, json: { code: 'provider_unavailable', error: 'temporarily_unavailable' } });
  t.equal(refused.headers['retry-after'], '5');
  respondToCode(assertion({ nonce }));
  t.equal((await api.send(sent)).status, 200);
  t.notOk(
    auditLines().some(({ event }) => event === 'login_failed'),
    'nobody was refused',
  );
  t.match(
    logLines().filter(({ msg }) => msg === 'identity provider unavailable'),
    [{ provider: 'idp', reason: /status 503/ }],
  );
});

t.test('an invalid ID token is 401 with an audit line, like one from the browser', async (t) => {
  const { begin, assertion, respondToCode, api, auditLines } = await startProviderGateway(t, coded);
  const browser: Browser = {};
  const { state } = await begin(browser);
  respondToCode(assertion({ nonce: 'of somebody else' }));
  const sent = { path: `${path}?code=c&state=${state}`, cookie: browser.cookie };
  t.match(await api.send(sent), { status: 401, json: { code: 'invalid_assertion', error: 'invalid_grant' } });
  t.match(auditLines(), [{ event: 'login_failed', provider: 'idp', reason: 'nonce' }]);
});

t.test('the issuer with a code is required where the provider announces it', async (t) => {
  const { begin, assertion, respondToCode, api, stub } = await startProviderGateway(t, {
    ...coded,
    direct: {},
  });
  const announced = { authorization_response_iss_parameter_supported: true };
  publish(stub, [jwkOf(eddsa)], announced);
  const browser: Browser = {};
  const { state, nonce } = await begin(browser);
  respondToCode(assertion({ nonce }, eddsa));
  const query = `${path}?code=c&state=${state}`;
  const cookie = browser.cookie;
  const without = await api.send({ path: query, cookie });
  t.match(without, { status: 422, json: { error: 'invalid_request' } });
  t.same(without.json.detail, [missing('query', 'iss')]);
  const form = { code: 'c', state };
  const posted = await api.send({ method: 'POST', path, form, cookie });
  t.same(posted.json.detail, [missing('body', 'iss')]);
  const blank = await api.send({ path: `${query}&iss=`, cookie });
  t.same(blank.json.detail, [missing('query', 'iss')]);
  for (const iss of ['https://other.example', `${stub.origin}/`])
    t.equal((await api.send({ path: `${query}&iss=${encodeURIComponent(iss)}`, cookie })).status, 401);
  t.equal(stub.count('/token'), 0);
  const good = await api.send({ path: `${query}&iss=${encodeURIComponent(stub.origin)}`, cookie });
  t.equal(good.status, 200);
  const named = await begin(browser, { provider: 'direct' });
  const made = assertion({ nonce: named.nonce }, eddsa);
  const tokenPath = `/api/login/direct/exchange?assertion=${made}`;
  const wrong = await api.send({ path: `${tokenPath}&iss=https://other.example`, cookie: browser.cookie });
  t.equal(wrong.status, 401, 'compared beside an ID token');
  const twice = await api.send({ path: `${tokenPath}&iss=a&iss=b`, cookie: browser.cookie });
  t.equal(twice.status, 422);
  t.equal((await api.send({ path: tokenPath, cookie: browser.cookie })).status, 200, 'which names it itself');
});

t.test('a long assertion is judged like any other', async (t) => {
  const { begin, assertion, api, exchange } = await startProviderGateway(t);
  const browser: Browser = {};
  const long = async (characters: number) => {
    const { nonce } = await begin(browser);
    const short = assertion({ nonce, note: '' }).length;
    return assertion({ nonce, note: 'x'.repeat(Math.floor(((characters - short) * 3) / 4)) });
  };
  const sixty = await long(60_000);
  t.ok(sixty.length > 59_990);
  t.equal((await exchange(browser, sixty)).status, 200);
  const target = await long(64 * 1024 - `${path}?assertion=`.length - 2);
  t.equal((await exchange(browser, target)).status, 200, 'as long as a target may be');
  const form = { assertion: await long(60_000) };
  t.equal((await api.send({ method: 'POST', path, form, cookie: browser.cookie })).status, 200);
});

t.test(
  'a key that is published right after the last fetch is found, and one withdrawn is gone',
  async (t) => {
    const { begin, assertion, exchange, stub, advance, signIn } = await startProviderGateway(t);
    t.equal((await signIn()).status, 200);
    publish(stub, [jwkOf(eddsa)]);
    const browser: Browser = {};
    const { nonce } = await begin(browser);
    t.equal((await exchange(browser, assertion({ nonce }, eddsa))).status, 200);
    t.equal((await signIn()).status, 401);
    publish(stub, [jwkOf(foreign, { kid: 'later' })]);
    advance(10 * 60_000);
    const seconds = Math.floor(Date.now() / 1000) + 600;
    const late = await begin(browser);
    const withdrawn = assertion({ nonce: late.nonce, iat: seconds, exp: seconds + 300 }, eddsa);
    t.equal((await exchange(browser, withdrawn)).status, 401, 'though nobody asked for ten minutes');
  },
);
