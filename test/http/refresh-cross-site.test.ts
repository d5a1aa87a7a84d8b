import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/login/refresh-token';
const username = 'grace';
const password = 'nanoseconds are this long';

async function startSignedIn(t: TestScope, same_site: string) {
  const config = { sessions: { cookie: { same_site } }, cors: { origins: ['https://app.example.com'] } };
  const gateway = await startTestGateway(t, { config });
  await addUser(gateway.folder, { username, password });
  const { cookie } = await gateway.api.signIn(username, password);
  const from = (origin: string | string[], sent: string | undefined = cookie) =>
    gateway.api.send({ method: 'POST', path, cookie: sent, headers: { origin } });
  return { ...gateway, cookie, from };
}

const foreign = [
  'https://evil.example',
  'null',
  'http://app.example.com',
  'https://app.example.com.evil.example',
];

t.test('with SameSite=None only known origins may send the cookie', async (t) => {
  const { api, cookie, from, advance } = await startSignedIn(t, 'none');
  advance(30_000);
  for (const origin of foreign) {
    const refused = await from(origin);
    t.match(refused, { status: 403, json: { code: 'cross_site', error: 'access_denied' } }, origin);
    t.same(refused.setCookies, []);
  }
  t.equal(
    (await from(['https://app.example.com', 'https://app.example.com'])).status,
    403,
    'a list of origins',
  );
  t.match((await from('https://app.example.com')).setCookies[0], /\.2\./, 'nothing was presented before');
  t.equal((await from('https://acme.example.com')).status, 200, 'its own origin');
  t.equal((await api.refresh(cookie)).status, 200, 'a client that is not a browser');
});

t.test('a missing or malformed cookie is 401 before its origin is judged', async (t) => {
  const { api, from } = await startSignedIn(t, 'none');
  t.equal((await from('https://evil.example', 'service_refresh_cookie=x')).status, 401);
  const headers = { origin: 'https://evil.example' };
  t.equal((await api.send({ method: 'POST', path, headers })).status, 401);
});

for (const sameSite of ['lax', 'strict'])
  t.test(
    `with SameSite=${sameSite} the browser keeps the cookie from other sites, and Origin says nothing`,
    async (t) => {
      const { from } = await startSignedIn(t, sameSite);
      for (const origin of foreign) t.equal((await from(origin)).status, 200, origin);
    },
  );
