import t from 'tap';
import { foreign, forge } from '../support/corpora/forged-assertions.ts';
import { logoutHeader } from '../support/corpora/forged-logout-tokens.ts';
import {
  type ProviderGateway,
  refreshCookieOf,
  startProviderGateway,
  subjectOf,
} from '../support/gateway/provider-gateway.ts';

/** A sign-in, and whether its access token and its refresh cookie still count. */
async function signInAs(gateway: ProviderGateway, claims: object, provider = 'idp') {
  const response = await gateway.signIn(claims, provider);
  if (response.status !== 200) throw new Error(`${response.status} ${response.text}`);
  const [bearer, cookie] = [response.json.access_token as string, refreshCookieOf(response)];
  const isAlive = async () => {
    const byBearer = await gateway.api.send({ path: '/api/open/x', bearer });
    const byCookie = await gateway.api.refresh(cookie);
    if ((byBearer.status === 200) !== (byCookie.status === 200)) throw new Error('only one of the two');
    return byBearer.status === 200;
  };
  return { isAlive, userId: subjectOf(response) };
}

type SignedIn = Awaited<ReturnType<typeof signInAs>>;
const aliveOf = (all: readonly SignedIn[]) => Promise.all(all.map(({ isAlive }) => isAlive()));

t.test('a logout token ends the sessions of its sid, and no others', async (t) => {
  const gateway = await startProviderGateway(t, { idp: {}, again: {} });
  const tab = await signInAs(gateway, { sid: 'one' });
  const otherTab = await signInAs(gateway, { sid: 'one' }, 'again');
  const phone = await signInAs(gateway, { sid: 'two' });
  const bob = await signInAs(gateway, { sub: 'bob' });
  const response = await gateway.logOut(gateway.logoutToken({ sid: 'one' }));
  t.equal(response.status, 200);
  t.equal(response.text, '');
  t.equal(response.headers['cache-control'], 'no-store');
  t.strictSame(response.setCookies, []);
  t.strictSame(await aliveOf([tab, otherTab, phone, bob]), [false, false, true, true]);

  await t.test('each with its audit line', async (t) => {
    const lines = gateway.auditLines().filter(({ event }) => event === 'session_revoked');
    t.equal(lines.length, 2);
    for (const line of lines)
      t.match(line, {
        outcome: 'success',
        actor: { user: null, kind: 'provider' },
        subject: tab.userId,
        provider: 'idp',
        target: { type: 'session', id: line.session },
        address: '127.0.0.1',
      });
  });

  await t.test('without a sid all of its subject', async (t) => {
    t.equal((await gateway.logOut(gateway.logoutToken())).status, 200);
    t.strictSame(await aliveOf([phone, bob]), [false, true]);
  });

  await t.test('and those that nobody has are 200, too', async (t) => {
    for (const change of [{ sid: 'never seen' }, { sub: 'nobody' }, {}])
      t.equal((await gateway.logOut(gateway.logoutToken(change))).status, 200);
    t.ok(await bob.isAlive());
  });
});

t.test('a token is accepted once, also of many at once', async (t) => {
  const gateway = await startProviderGateway(t);
  const before = await signInAs(gateway, {});
  const token = gateway.logoutToken();
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await gateway.logOut(token)).status),
  );
  t.strictSame(statuses.sort(), [200, ...Array(19).fill(400)]);
  t.notOk(await before.isAlive());
  t.equal(gateway.auditLines().filter(({ event }) => event === 'session_revoked').length, 1);
  const after = await signInAs(gateway, {});
  t.match(await gateway.logOut(token), { status: 400, json: { code: 'bad_request' } });
  t.ok(await after.isAlive(), 'a repeat ends nothing that began since');
});

t.test('a wrong request is 400 and ends nothing', async (t) => {
  const gateway = await startProviderGateway(t, { idp: {}, other: { client_id: 'another' } });
  const { api, logoutToken, logOut } = gateway;
  const session = await signInAs(gateway, {});
  const path = '/api/login/idp/back-channel-logout';
  const seconds = Math.floor(Date.now() / 1000);
  const rows: Record<string, () => Promise<{ status: number; json: any }>> = {
    'no body': () => api.send({ method: 'POST', path }),
    'a blank token': () => logOut(''),
    'a JSON body': () => api.send({ method: 'POST', path, json: { logout_token: logoutToken() } }),
    'a token in the query': () => api.send({ method: 'POST', path: `${path}?logout_token=${logoutToken()}` }),
    'an ID token': () => logOut(gateway.assertion()),
    'a token for another client': () => logOut(logoutToken(), 'other'),
    'a token that has expired': () => logOut(logoutToken({ iat: seconds - 300, exp: seconds - 100 })),
    'a token that someone else signed': () =>
      logOut(
        forge(
          logoutHeader,
          JSON.parse(Buffer.from(logoutToken().split('.')[1]!, 'base64url').toString()),
          foreign,
        ),
      ),
    'a token with a nonce': () => logOut(logoutToken({ nonce: 'n' })),
  };
  for (const [name, send] of Object.entries(rows))
    t.match(
      await send(),
      { status: 400, json: { code: 'bad_request', error: 'invalid_request', error_description: /./ } },
      name,
    );
  t.ok(await session.isAlive());
  const reasons = gateway.logLines().filter(({ reason }) => reason === 'logout token');
  t.equal(reasons.length, Object.keys(rows).length, 'the access lines say why');
  t.equal((await api.send({ path })).status, 405);
  t.equal((await api.send({ method: 'POST', path: '/api/login/nobody/back-channel-logout' })).status, 404);
});

t.test('no credential, cookie or foreign page makes a difference', async (t) => {
  const gateway = await startProviderGateway(t);
  const session = await signInAs(gateway, {});
  const response = await gateway.api.send({
    method: 'POST',
    path: '/api/login/idp/back-channel-logout/',
    bearer: 'stale',
    cookie: 'service_refresh_cookie=x',
    headers: { origin: 'https://login.example.com', 'sec-fetch-site': 'cross-site' },
    form: { logout_token: gateway.logoutToken(), more: 'is ignored' },
  });
  t.equal(response.status, 200);
  t.notOk(await session.isAlive());
});

t.test('without the provider’s keys it is 503, and the same token works later', async (t) => {
  const gateway = await startProviderGateway(t);
  const { responses } = gateway.stub;
  const keys = responses.get('/jwks')!;
  const token = gateway.logoutToken();
  responses.delete('/jwks');
  t.match(await gateway.logOut(token), {
    status: 503,
    json: { code: 'provider_unavailable', error: 'temporarily_unavailable' },
  });
  responses.set('/jwks', keys);
  gateway.advance(30_000);
  t.equal((await gateway.logOut(token)).status, 200);
});
