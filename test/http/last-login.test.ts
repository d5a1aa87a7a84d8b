import t from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { navigation, startWebGateway } from '../support/pages/web.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';

t.test('every sign-in is the last one at once', async (t) => {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const client = { issuer: stub.origin, client_id: 'postern' };
  const { api, open, submit } = await startWebGateway(t, {
    endpoints: { users: 'own' },
    identity_providers: {
      staff: { ...client, redirect_uri: 'https://acme.example.com/', unsolicited: true },
    },
  });
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const lastLogins = async (): Promise<Record<string, string | null>> => {
    const { items } = (await api.send({ path: '/api/admin/users/', bearer })).json;
    return Object.fromEntries(items.map((user: any) => [user.username, user.last_login]));
  };
  /** When that user has signed in, which is later than before. */
  async function laterThan(username: string, before: string | null, how: string): Promise<string> {
    const after = (await lastLogins())[username] ?? '';
    t.ok(after > (before ?? ''), `${how}: ${after} after ${before}`);
    return after;
  }
  const assertionWith = (more: object) => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { ...exampleClaims, iss: stub.origin, aud: 'postern', iat, exp: iat + 300, ...more };
    return forge(header, claims);
  };

  const first = await laterThan('ada', null, 'by password');
  await api.signIn(administrator.username, administrator.password);
  const second = await laterThan('ada', first, 'by password again');
  t.equal((await submit('/postern/sign-in', { ...administrator })).status, 303);
  await laterThan('ada', second, 'on the page');

  const person = { sub: 'p', preferred_username: 'grace', nonce: undefined, jti: 'once' };
  const form = { assertion: assertionWith(person) };
  const exchanged = await api.send({ method: 'POST', path: '/api/login/staff/exchange', form });
  t.equal(exchanged.status, 200, exchanged.text);
  const third = await laterThan('grace', null, 'by an assertion');
  const left = await open('/postern/sign-in/staff');
  const { state, nonce } = Object.fromEntries(new URL(left.headers.location ?? '').searchParams);
  const id_token = assertionWith({ ...person, nonce });
  stub.responses.set('/token', json({ access_token: 'a', token_type: 'Bearer', id_token }));
  const back = await api.send({
    path: `/postern/callback/staff?code=c1&state=${state}`,
    headers: { ...navigation, 'sec-fetch-site': 'cross-site' },
    cookie: left.setCookies[0]!.split(';', 1)[0]!,
  });
  t.equal(back.status, 303, back.text);
  await laterThan('grace', third, 'through a provider, on the pages');
});
