import t, { type Test } from 'tap';
import { type Browser, startProviderGateway } from '../support/gateway/provider-gateway.ts';

const path = '/api/login/idp/exchange';
const own = 'https://acme.example.com';
const front = 'https://app.example.com';
const cors = { cors: { origins: [front] } };

const foreignPages: Record<string, Record<string, string>> = {
  'a form of another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'a sandboxed form': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'a neighbouring host': { origin: 'https://wiki.example.com', 'sec-fetch-site': 'same-site' },
  'an old browser': { origin: 'https://evil.example' },
  'a page that hides where it is': { 'sec-fetch-site': 'cross-site' },
};
const ownPages: Record<string, Record<string, string>> = {
  'no browser': {},
  'our own page': { origin: own, 'sec-fetch-site': 'same-origin' },
  'our own page in an old browser': { origin: own },
  'a page that may': { origin: front, 'sec-fetch-site': 'cross-site' },
};

t.test("a foreign page can't post to the exchange, or consume a start", async (t) => {
  const { api, begin, assertion, respondToCode, stub, auditLines } = await startProviderGateway(
    t,
    { idp: {}, coded: { response: 'code' } },
    cors,
  );
  for (const [name, page] of Object.entries(foreignPages)) {
    const browser: Browser = {};
    const { nonce } = await begin(browser);
    const coded = await begin(browser, { provider: 'coded' });
    respondToCode(assertion({ nonce: coded.nonce }));
    const good = { method: 'POST', path, form: { assertion: assertion({ nonce }) }, cookie: browser.cookie };
    const code = { ...good, path: '/api/login/coded/exchange', form: { code: 'c', state: coded.state } };
    const before = stub.count('/token');
    for (const sent of [good, code, { ...good, form: {} }]) {
      const refused = await api.send({ ...sent, headers: page });
      t.match(refused, { status: 403, setCookies: [] }, name);
      t.match(refused.json, { code: 'cross_site', error: 'access_denied' }, name);
      t.equal(refused.headers['referrer-policy'], 'no-referrer');
    }
    t.equal(stub.count('/token'), before);
    for (const sent of [good, code]) t.equal((await api.send(sent)).status, 200, name);
  }
  t.equal(auditLines().filter(({ event }) => event === 'login_failed').length, 0);
});

t.test('other pages do, and a GET is bound by its cookie only', async (t) => {
  const { api, begin, assertion } = await startProviderGateway(t, { idp: {} }, cors);
  for (const [name, headers] of Object.entries({ ...ownPages, 'a link': { 'sec-fetch-site': 'none' } })) {
    const browser: Browser = {};
    const form = { assertion: assertion({ nonce: (await begin(browser)).nonce }) };
    const cookie = browser.cookie;
    t.equal((await api.send({ method: 'POST', path, form, headers, cookie })).status, 200, name);
  }
  for (const [name, headers] of Object.entries(foreignPages)) {
    const browser: Browser = {};
    const made = assertion({ nonce: (await begin(browser)).nonce });
    const sent = { path: `${path}?assertion=${made}`, headers };
    t.equal((await api.send(sent)).status, 401, name);
    t.equal((await api.send({ ...sent, cookie: browser.cookie })).status, 200, name);
  }
});

/** A start of a client without cookies, and what each page's exchange of it is answered. */
async function withoutCookie(
  t: Test,
  { api, begin, assertion }: Awaited<ReturnType<typeof startProviderGateway>>,
  pages: Record<string, Record<string, string | string[]>>,
  statuses: { readonly get: number; readonly post: number },
): Promise<void> {
  for (const [name, headers] of Object.entries(pages)) {
    const { nonce } = await begin({}, { query: '?return_to=/in' });
    const made = assertion({ nonce });
    const post = await api.send({ method: 'POST', path, form: { assertion: made }, headers });
    t.equal(post.status, statuses.post, `POST, ${name}`);
    if (statuses.post === 200) t.match(post, { json: { return_to: '/in' }, setCookies: { length: 1 } }, name);
    const { nonce: another } = await begin({});
    const get = await api.send({ path: `${path}?assertion=${assertion({ nonce: another })}`, headers });
    t.equal(get.status, statuses.get, `GET, ${name}`);
    if (statuses.get === 200)
      t.equal((await api.send({ method: 'POST', path, form: { assertion: made } })).status, 401, 'once');
  }
}

t.test(
  'with unsolicited: started the cookie need not be there, where no foreign page can have sent it',
  async (t) => {
    const gateway = await startProviderGateway(t, { idp: { unsolicited: 'started' } }, cors);
    await withoutCookie(t, gateway, ownPages, { get: 200, post: 200 });
    await withoutCookie(t, gateway, foreignPages, { get: 401, post: 403 });
    await withoutCookie(
      t,
      gateway,
      { 'an address that was typed': { 'sec-fetch-site': 'none' } },
      { get: 401, post: 401 },
    );
    await withoutCookie(
      t,
      gateway,
      { 'a sibling without Origin': { 'sec-fetch-site': 'same-site' } },
      { get: 401, post: 401 },
    );
    const twice = { 'two origins': { origin: [own, 'https://evil.example'] } };
    await withoutCookie(t, gateway, twice, { get: 401, post: 403 });
    const { assertion, exchange, begin } = gateway;
    t.equal((await exchange({}, assertion())).status, 401, 'one without a start is still refused');
    t.equal((await exchange({}, assertion({ nonce: 'n' }))).status, 401);
    const { nonce } = await begin({});
    const made = assertion({ nonce });
    const responses = await Promise.all(Array.from({ length: 20 }, () => exchange({}, made)));
    t.same(responses.map(({ status }) => status).sort(), [200, ...Array(19).fill(401)], 'once');
  },
);

t.test('the console on a host of its own is no front end whose clients keep no cookies', async (t) => {
  const web = { console: { base_url: 'https://console.acme.example.com' } };
  const gateway = await startProviderGateway(t, { idp: { unsolicited: 'started' } }, { web, ...cors });
  const page = { 'its page': { origin: web.console.base_url, 'sec-fetch-site': 'same-site' } };
  await withoutCookie(t, gateway, page, { get: 401, post: 401 });
});

t.test('over http silence vouches for nobody, and without the option nothing does', async (t) => {
  const overHttp = await startProviderGateway(
    t,
    { idp: { unsolicited: 'started' } },
    { base_url: 'http://acme.example.com', ...cors },
  );
  await withoutCookie(t, overHttp, { silence: {} }, { get: 401, post: 401 });
  const named = {
    'our own page': { origin: 'http://acme.example.com' },
    'a page that may': { origin: front },
  };
  await withoutCookie(t, overHttp, named, { get: 200, post: 200 });
  const strict = await startProviderGateway(t, { idp: {} }, cors);
  await withoutCookie(t, strict, ownPages, { get: 401, post: 401 });
});
