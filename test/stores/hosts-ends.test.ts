import t, { type Test } from 'tap';
import { userPassword, usersPath } from '../support/administration/user-administration.ts';
import { eventually } from '../support/eventually.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  type HostBrowser,
  hostCookieName,
  hostRoutes,
  hosts,
  leadsTo,
  notes,
  preview,
  wiki,
} from '../support/pages/hosts.ts';
import { forgets } from '../support/pages/web.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import type { StoresConfig } from '../support/stores/stores-config.ts';

t.setTimeout(600_000);

/** Two gateways on one store, and the calls of an administrator. */
async function startBoth(t: Test, stores: StoresConfig, more: object = {}) {
  const throttle = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
  const endpoints = { users: 'own', admin_sessions: 'own' };
  const config = {
    ...stores,
    web: {},
    endpoints,
    hosts,
    routes: hostRoutes,
    login_throttle: throttle,
    ...more,
  };
  const one = await startTestGateway(t, { config });
  const other = await startTestGateway(t, { config, folder: one.folder });
  const { username, password } = administrator;
  await one.api.activate(username, password, bootstrapToken);
  const { accessToken: bearer } = await one.api.signIn(username, password);
  const { key: apiKey } = await one.api.mintKey(bearer, {
    label: 'k',
    scopes: [],
    scope_sets: ['administrator'],
  });
  return { one, other, config, apiKey };
}

/** What has a browser's session end; `id`: of its user. */
type End = (gateway: TestGateway, apiKey: string, id: string) => Promise<unknown>;

const change =
  (body: object): End =>
  ({ api }, apiKey, id) =>
    api.send({ method: 'PATCH', path: usersPath + id, json: body, apiKey });
const remove =
  (path: (id: string) => string): End =>
  ({ api }, apiKey, id) =>
    api.send({ method: 'DELETE', path: path(id), apiKey });

const ends: Readonly<Record<string, End>> = {
  'its end by an administrator': async ({ api }, apiKey, id) => {
    const { json } = await api.send({ path: `/api/admin/sessions/?user__eq=${id}`, apiKey });
    for (const session of json.items)
      await api.send({ method: 'DELETE', path: `/api/admin/sessions/${session.id}`, apiKey });
  },
  'the end of all sessions of its user': remove((id) => `/api/admin/sessions/?user=${id}`),
  'a new password': change({ password: `${userPassword}, another` }),
  'its user being disabled': change({ disabled: true }),
  'its user being removed': remove((id) => usersPath + id),
  'the end of everyone’s sessions': remove(() => '/api/admin/sessions/?all=true'),
};

/** The address at which a signed-in browser would enter a host. */
async function entryOf(browser: HostBrowser, origin: string): Promise<string> {
  const start = await browser.send(`${origin}/postern/start`);
  return (await browser.send(leadsTo(start)!)).headers.location!;
}

testOnEveryStore('host cookies and codes die with the session, at both gateways', async (t, stores) => {
  const { one, other, apiKey } = await startBoth(t, stores);
  for (const [index, [name, end]] of Object.entries(ends).entries())
    await t.test(name, async (t) => {
      const [where, elsewhere] = index % 2 === 0 ? [one, other] : [other, one];
      const person = { username: `person-${index}`, password: userPassword };
      const created = await where.api.send({ method: 'POST', path: usersPath, json: person, apiKey });
      t.equal(created.status, 201);
      const here = createHostBrowser(where);
      t.match(await here.signIn(`${wiki}/x`, person), { status: 200, url: `${wiki}/x` });
      t.match(await here.open(`${preview}/`), { status: 200 });
      const there = createHostBrowser(elsewhere);
      for (const origin of [base, wiki, preview])
        for (const [cookie, value] of here.cookiesAt(origin)) there.cookiesAt(origin).set(cookie, value);
      t.match(await there.send(`${wiki}/`), { status: 200 }, 'known at both');
      const codes = [await entryOf(here, notes), await entryOf(there, notes)];

      await end(where, apiKey, String(created.json.id));
      t.match(await here.send(`${wiki}/`), { status: 302 }, 'here at once');
      await eventually('there', async () => (await there.send(`${preview}/`)).status === 302);
      for (const [browser, code] of [[here, codes[0]!] as const, [there, codes[1]!] as const]) {
        const refused = await browser.send(code);
        t.match(refused, { status: 302, headers: { location: '/' } }, 'the code leads to no session');
        t.notOk(browser.cookiesAt(notes).has(hostCookieName));
        t.match(await browser.open(`${notes}/`), { url: /^https:\/\/acme\.example\.com\/postern\/sign-in/ });
      }
    });
});

t.test('a session that Redis still has is ended by its user’s epoch', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const { one, other, apiKey } = await startBoth(t, {
    stores: { records: 'sqlite:r.db', sessions: redis.url },
  });
  const person = { username: 'grace', password: userPassword };
  const created = await one.api.send({ method: 'POST', path: usersPath, json: person, apiKey });
  const browser = createHostBrowser(other);
  await browser.signIn(`${wiki}/`, person);
  const code = await entryOf(browser, notes);

  redis.pause();
  t.match(await change({ password: `${userPassword}, another` })(one, apiKey, String(created.json.id)), {
    status: 200,
  });
  await eventually('there', async () => (await browser.send(`${wiki}/`)).status === 302);
  redis.resume();
  await eventually('Redis is back', async () => (await browser.send(code)).status === 302, 10_000);
  t.notOk(browser.cookiesAt(notes).has(hostCookieName));
});

testOnEveryStore('a host cookie outlives the secret that signed it, at both gateways', async (t, stores) => {
  const { one, other } = await startBoth(t, stores, {
    signing_keys: { rotate_every: '1h', publish_ahead: '10m' },
  });
  const advance = (ms: number) => {
    for (const gateway of [one, other]) gateway.advance(ms);
  };
  const browser = createHostBrowser(one);
  await browser.signIn(`${wiki}/`);
  const first = browser.cookiesAt(wiki).get(hostCookieName)!;
  const added = () =>
    [one, other].flatMap((gateway) =>
      gateway
        .logLines()
        .filter(({ msg, purpose }) => /^signing key added/.test(String(msg)) && purpose === 'cookie'),
    );
  advance(50 * 60_000);
  await eventually('another secret', () => added().length > 0);
  advance(10 * 60_000);
  await eventually('it signs', async () => {
    await browser.send(await entryOf(browser, wiki));
    return browser.cookiesAt(wiki).get(hostCookieName) !== first;
  });
  const later = browser.cookiesAt(wiki).get(hostCookieName)!;
  for (const gateway of [one, other])
    for (const value of [first, later]) {
      const headers = { cookie: `${hostCookieName}=${value}` };
      const reader = createHostBrowser(gateway);
      t.match(await reader.send(`${wiki}/`, { headers }), { status: 200 });
      t.match(await reader.send(`${notes}/`, { headers }), { status: 401 }, 'at its host alone');
    }
});

testOnEveryStore('a host leaves the file of one gateway after the other', async (t, stores) => {
  const { one, other, config } = await startBoth(t, stores);
  const left = new URL(notes).host;
  const without = {
    ...config,
    hosts: hosts.filter((origin) => origin !== notes),
    routes: hostRoutes.filter((route) => !('host' in route) || route.host !== left),
  };
  const browser = createHostBrowser(one);
  const later = createHostBrowser(other);
  await browser.signIn(`${notes}/`);
  for (const origin of [base, notes])
    for (const [name, value] of browser.cookiesAt(origin)) later.cookiesAt(origin).set(name, value);
  const code = await entryOf(browser, notes);

  await one.reload(without);
  t.match(await browser.send(`${notes}/x`), { status: 404 }, 'it has no route there');
  t.match(await browser.send(code), { status: 404 });
  t.match(await later.send(`${notes}/x`), { status: 200 }, 'where it still is, it counts');
  await other.reload(without);
  t.match(await later.send(`${notes}/x`), { status: 404 });
  t.match(await browser.open(`${wiki}/`), { status: 200, url: `${wiki}/` }, 'the session lives on');

  for (const gateway of [one, other]) await gateway.reload(config);
  const entered = await later.send(code);
  t.match(entered, { status: 303 }, 'a code that nothing has spent');
  t.notOk(forgets(entered, hostCookieName));
});
