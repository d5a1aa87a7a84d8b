import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/logout';
const username = 'grace';
const password = 'nanoseconds are this long';
const cleared = 'service_refresh_cookie=; Max-Age=0; Path=/api; HttpOnly; Secure; SameSite=Lax';

async function startWithUser(t: TestScope, config?: object) {
  const gateway = await startTestGateway(t, { config });
  const { api } = gateway;
  const user = await addUser(gateway.folder, {
    username,
    password,
    scopes: ['store:read', 'apikeys:write'],
  });
  const signIn = () => api.signIn(username, password);
  const isAlive = async ({ accessToken, cookie }: { accessToken: string; cookie: string }) => {
    const statuses = [
      (await api.send({ path: '/api/store/x', bearer: accessToken })).status,
      (await api.refresh(cookie)).status,
    ];
    if (statuses[0] !== statuses[1]) throw new Error(`half dead: ${statuses}`);
    return statuses[0] === 200;
  };
  return { ...gateway, user, signIn, isAlive };
}

t.test('a bearer token, the cookie, or both end the session and clear the cookie', async (t) => {
  const { api, signIn, isAlive } = await startWithUser(t);
  for (const by of ['bearer', 'cookie', 'both'] as const) {
    const session = await signIn();
    const other = await signIn();
    const response = await api.send({
      path,
      bearer: by === 'cookie' ? undefined : session.accessToken,
      cookie: by === 'bearer' ? undefined : session.cookie,
    });
    t.match(response, {
      status: 200,
      text: '',
      headers: { 'content-length': '0', 'cache-control': 'no-store' },
    });
    t.same(response.setCookies, [cleared], by);
    t.notOk(await isAlive(session), by);
    t.ok(await isAlive(other), 'and no other session');
  }
});

t.test('a bearer token and a cookie of different sessions end both', async (t) => {
  const { api, signIn, isAlive } = await startWithUser(t);
  const [one, two] = [await signIn(), await signIn()];
  const headers = { 'sec-fetch-site': 'cross-site' };
  t.equal((await api.send({ path, bearer: one.accessToken, cookie: two.cookie, headers })).status, 200);
  t.same([await isAlive(one), await isAlive(two)], [false, false]);
});

t.test('any cookie with a valid MAC ends its session: several of them, and rotated ones', async (t) => {
  const { api, signIn, isAlive, advance } = await startWithUser(t);
  const [one, two] = [await signIn(), await signIn()];
  t.equal((await api.send({ path, cookie: `${one.cookie}; ${two.cookie}` })).status, 200);
  t.same([await isAlive(one), await isAlive(two)], [false, false]);

  const old = await signIn();
  let { cookie } = old;
  for (let i = 0; i < 3; i++) {
    advance(30_000);
    cookie = (await api.refresh(cookie)).setCookies[0]!.split(';', 1)[0]!;
    await api.refresh(cookie);
  }
  t.match(cookie, /\.4\./);
  t.equal((await api.send({ path, cookie: old.cookie })).status, 200, 'three generations old');
  t.notOk(await isAlive({ ...old, cookie }));
});

t.test('an invalid or expired bearer token counts as absent', async (t) => {
  const { api, signIn, isAlive, advance } = await startWithUser(t);
  const session = await signIn();
  advance(601_000);
  for (const authorization of [`Bearer ${session.accessToken}`, 'Bearer nonsense', 'Bearer', 'Basic eDp5']) {
    const alone = await api.send({ path, headers: { authorization } });
    t.match(alone, { status: 401, json: { code: 'not_authenticated' } }, authorization.slice(0, 12));
    t.equal(alone.headers['www-authenticate'], 'Bearer realm="acme"', 'without an error');
    const another = await signIn();
    const { status } = await api.send({ path, cookie: another.cookie, headers: { authorization } });
    t.equal(status, 200);
    t.notOk(await isAlive(another));
  }
});

t.test('nothing valid is 401 without an error, and clears nothing', async (t) => {
  const { api, signIn } = await startWithUser(t);
  const ended = await signIn();
  await api.send({ path, cookie: ended.cookie });
  for (const sent of [
    {},
    { cookie: 'service_refresh_cookie=nonsense' },
    { cookie: ended.cookie },
    { cookie: ended.cookie, bearer: ended.accessToken },
  ]) {
    const response = await api.send({ path, ...sent });
    t.match(response, { status: 401, json: { code: 'not_authenticated', detail: 'Not authenticated' } });
    t.equal(response.headers['www-authenticate'], 'Bearer realm="acme"');
    t.same(response.setCookies, []);
    t.notOk('error' in response.json, 'it is not an OAuth endpoint');
  }
});

t.test('the cookie alone signs out only where Sec-Fetch-Site allows it', async (t) => {
  const { api, signIn, isAlive } = await startWithUser(t);
  for (const site of ['none', 'same-origin', 'same-site']) {
    const session = await signIn();
    const { status } = await api.send({ path, cookie: session.cookie, headers: { 'sec-fetch-site': site } });
    t.equal(status, 200, site);
    t.notOk(await isAlive(session));
  }
  const session = await signIn();
  const elsewhere = ['cross-site', 'Cross-Site', 'same-origin, cross-site', 'unheard-of'];
  for (const site of [...elsewhere, ['cross-site', 'same-origin'], ['none', 'none']]) {
    const response = await api.send({ path, cookie: session.cookie, headers: { 'sec-fetch-site': site } });
    t.match(response, { status: 401, headers: { 'www-authenticate': 'Bearer realm="acme"' } }, `${site}`);
    t.same(response.setCookies, []);
  }
  const stale = { 'sec-fetch-site': 'cross-site', authorization: 'Bearer nonsense' };
  t.equal(
    (await api.send({ path, cookie: session.cookie, headers: stale })).status,
    401,
    'nor with a bad token',
  );
  t.ok(await isAlive(session));
});

t.test('a prefetch ends nothing', async (t) => {
  const { api, signIn, isAlive } = await startWithUser(t);
  const session = await signIn();
  const purposes = ['prefetch', 'prefetch;prerender', 'prefetch; anonymous-client-ip', ['prefetch', 'x']];
  for (const purpose of purposes)
    for (const by of [{ cookie: session.cookie }, { bearer: session.accessToken }]) {
      const response = await api.send({ path, ...by, headers: { 'sec-purpose': purpose } });
      t.match(response, { status: 403, json: { code: 'prefetch' } }, `${purpose}`);
      t.same(response.setCookies, []);
    }
  const anonymous = await api.send({ path, headers: { 'sec-purpose': 'prefetch' } });
  t.equal(anonymous.status, 401, 'a request without credentials learns that first');
  t.ok(await isAlive(session));
});

t.test('an API key has no session to end', async (t) => {
  const { api, signIn, isAlive } = await startWithUser(t);
  const session = await signIn();
  const { key } = await api.mintKey(session.accessToken, { label: 'ci', scopes: ['store:read'] });
  for (const cookie of [undefined, session.cookie])
    t.match(await api.send({ path, apiKey: key, cookie }), {
      status: 403,
      json: { code: 'session_required' },
    });
  const both = await api.send({ path, apiKey: key, bearer: session.accessToken });
  t.match(both, { status: 400, json: { code: 'ambiguous_credentials' } });
  t.ok(await isAlive(session));
});

t.test('it serves GET only, with and without a trailing slash', async (t) => {
  const { api, signIn } = await startWithUser(t);
  const session = await signIn();
  for (const method of ['HEAD', 'POST', 'DELETE']) {
    const response = await api.send({ method, path, bearer: session.accessToken });
    t.match(response, { status: 405, headers: { allow: 'GET, OPTIONS' } }, method);
  }
  for (const other of ['/api/logout/all', '/api/LOGOUT'])
    t.equal((await api.send({ path: other, bearer: session.accessToken })).status, 404, other);
  t.equal((await api.send({ path: `${path}/?from=menu`, bearer: session.accessToken })).status, 200);
});

t.test('the session of a user disabled since has ended already', async (t) => {
  const { api, signIn, folder, user } = await startWithUser(t);
  const session = await signIn();
  await changeUser(folder, user.id, { disabled: true });
  t.equal((await api.send({ path, cookie: session.cookie, bearer: session.accessToken })).status, 401);
  await changeUser(folder, user.id, { disabled: false });
  t.equal((await api.refresh(session.cookie)).status, 401);
});

t.test('a sign-out ends everything the session has in flight', async (t) => {
  const { api, signIn, upstream } = await startWithUser(t);
  const session = await signIn();
  const flushed = new Promise<void>((resolve) => {
    upstream.response = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      resolve();
    };
  });
  const stream = api.send({ path: '/api/store/events', bearer: session.accessToken });
  const ended = t.rejects(stream, 'never an end that looks complete');
  await flushed;
  t.equal((await api.send({ path, cookie: session.cookie })).status, 200);
  await ended;
});
