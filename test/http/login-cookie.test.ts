import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const account = { username: 'grace', password: 'nanoseconds are this long' };
const fourteenDays = 14 * 86_400;

const settings: Record<string, { config: object; name: string; attributes: string }> = {
  'the defaults': {
    config: {},
    name: 'service_refresh_cookie',
    attributes: `Max-Age=${fourteenDays}; Path=/api; HttpOnly; Secure; SameSite=Lax`,
  },
  'a base URL without TLS': {
    config: { base_url: 'http://acme.example.com' },
    name: 'service_refresh_cookie',
    attributes: `Max-Age=${fourteenDays}; Path=/api; HttpOnly; SameSite=Lax`,
  },
  'TLS that ends before a base URL that does not say so': {
    config: { base_url: 'http://acme.example.com', sessions: { cookie: { secure: true } } },
    name: 'service_refresh_cookie',
    attributes: `Max-Age=${fourteenDays}; Path=/api; HttpOnly; Secure; SameSite=Lax`,
  },
  'a cookie of the whole domain, for other sites too': {
    config: {
      sessions: { cookie: { name: 'rc', path: '/', domain: 'example.com', same_site: 'none' } },
    },
    name: 'rc',
    attributes: `Max-Age=${fourteenDays}; Path=/; Domain=example.com; HttpOnly; Secure; SameSite=None`,
  },
  'a strict cookie with a name that browsers guard': {
    config: { sessions: { cookie: { name: '__Host-rc', path: '/', same_site: 'strict' } } },
    name: '__Host-rc',
    attributes: `Max-Age=${fourteenDays}; Path=/; HttpOnly; Secure; SameSite=Strict`,
  },
  'a session whose absolute end is the nearer one': {
    config: { sessions: { absolute_lifetime: '1h' } },
    name: 'service_refresh_cookie',
    attributes: 'Max-Age=3600; Path=/api; HttpOnly; Secure; SameSite=Lax',
  },
};

for (const [title, { config, name, attributes }] of Object.entries(settings)) {
  t.test(`sign-in, refresh and sign-out write the same cookie: ${title}`, async (t) => {
    const { api, folder } = await startTestGateway(t, { config });
    await addUser(folder, account);
    const { response, cookie, accessToken } = await api.signIn(account.username, account.password);
    t.same(response.setCookies, [`${cookie}; ${attributes}`]);
    t.ok(cookie.startsWith(`${name}=`));

    const [refreshed] = (await api.refresh(cookie)).setCookies;
    t.equal(refreshed?.replace(/Max-Age=\d+/, ''), `${cookie}; ${attributes}`.replace(/Max-Age=\d+/, ''));

    const { setCookies } = await api.send({ path: '/api/logout', bearer: accessToken });
    t.same(setCookies, [`${name}=; ${attributes.replace(/Max-Age=\d+/, 'Max-Age=0')}`]);
  });
}

t.test("Max-Age is the session's remaining life, and use extends it up to its absolute end", async (t) => {
  const sessions = { idle_lifetime: '10h', absolute_lifetime: '24h' };
  const { api, folder, advance } = await startTestGateway(t, { config: { sessions } });
  await addUser(folder, account);
  const signedIn = await api.signIn(account.username, account.password);
  t.match(signedIn.response.setCookies[0], /; Max-Age=36000;/);
  let { cookie } = signedIn;

  const hour = 3_600_000;
  for (const [hours, left] of [
    [9, 10 * 3600],
    [9, 6 * 3600],
    [5, 3600],
  ] as const) {
    advance(hours * hour);
    const [set = ''] = (await api.refresh(cookie)).setCookies;
    const maxAge = Number(/; Max-Age=(\d+);/.exec(set)?.[1]);
    t.ok(Math.abs(maxAge - left) <= 5, `${maxAge} s are left, about ${left}`);
    cookie = set.split(';', 1)[0]!;
  }
});

t.test('a refresh in the last second of a session does not clear the cookie', async (t) => {
  const { api, folder, advance } = await startTestGateway(t, {
    config: { sessions: { absolute_lifetime: '1h' } },
  });
  await addUser(folder, account);
  const before = Date.now();
  const { cookie } = await api.signIn(account.username, account.password);
  advance(3_600_000 - 900);
  const refreshed = await api.refresh(cookie);
  // On a machine that slept in between the session is over, and says so.
  if (Date.now() - before < 800) t.match(refreshed, { status: 200, setCookies: [/; Max-Age=1;/] });
});
