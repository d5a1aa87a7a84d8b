import { createLocalJWKSet, decodeProtectedHeader, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/.well-known/jwks.json';
const username = 'grace';
const password = 'nanoseconds are this long';
const issuer = 'https://acme.example.com';

async function startWithUser(t: TestScope, config?: object) {
  const gateway = await startTestGateway(t, { config });
  const user = await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  return { ...gateway, user };
}

const jwksOf = async ({ api }: Pick<TestGateway, 'api'>): Promise<JSONWebKeySet> =>
  (await api.send({ path })).json;

/** As an upstream would that trusts nobody: by the published keys and RFC 9068 §4. */
const verify = (token: string, jwks: JSONWebKeySet) =>
  jwtVerify(token, createLocalJWKSet(jwks), {
    issuer,
    audience: issuer,
    typ: 'at+jwt',
    requiredClaims: ['iss', 'aud', 'sub', 'sid', 'scope', 'iat', 'exp', 'jti', 'client_id'],
  });

const publicMembers = {
  ES256: { kty: 'EC', crv: 'P-256', members: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'] },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', members: ['alg', 'crv', 'kid', 'kty', 'use', 'x'] },
  RS256: { kty: 'RSA', crv: undefined, members: ['alg', 'e', 'kid', 'kty', 'n', 'use'] },
} as const;

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
  t.test(`an access token is verified by the published keys: ${algorithm}`, async (t) => {
    const gateway = await startWithUser(t, { tokens: { algorithm, access_lifetime: '5m' } });
    const beforeSeconds = Math.floor(Date.now() / 1000);
    const { accessToken, cookie } = await gateway.api.signIn(username, password);
    const jwks = await jwksOf(gateway);
    const { payload, protectedHeader } = await verify(accessToken, jwks);

    const [key] = jwks.keys;
    t.equal(jwks.keys.length, 1);
    t.same(Object.keys(key!).sort(), publicMembers[algorithm].members, 'nothing private');
    t.match(key, { kty: publicMembers[algorithm].kty, use: 'sig', alg: algorithm });
    t.equal(key!.crv, publicMembers[algorithm].crv);
    t.same(protectedHeader, { alg: algorithm, typ: 'at+jwt', kid: key!.kid });

    t.same(Object.keys(payload).sort(), 'aud client_id exp iat iss jti scope sid sub'.split(' '));
    t.match(payload, { iss: issuer, aud: issuer, sub: gateway.user.id, scope: 'store:read', client_id: /./ });
    t.equal(payload.sid, /=([^.]+)\./.exec(cookie)?.[1]);
    t.equal(payload.exp! - payload.iat!, 300);
    t.ok(payload.iat! >= beforeSeconds && payload.iat! <= Math.floor(Date.now() / 1000));

    const second = await gateway.api.refresh(cookie);
    const refreshed = await verify(second.json.access_token, jwks);
    t.not(refreshed.payload.jti, payload.jti);
    t.equal(refreshed.payload.sid, payload.sid);
  });

t.test('the keys are public and may be cached for five minutes', async (t) => {
  const gateway = await startTestGateway(t);
  const response = await gateway.api.send({ path, bearer: 'stale', apiKey: 'stale' });
  t.match(response, { status: 200, headers: { 'cache-control': 'public, max-age=300' } });
  t.match(response.headers['content-type'], /^application\/json/);
  t.match(await gateway.api.send({ path: `${path}/`, method: 'HEAD' }), { status: 200, text: '' });
  const post = await gateway.api.send({ path, method: 'POST' });
  t.match(post, { status: 405, headers: { allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' } });
});

t.test('signing keys survive a restart', async (t) => {
  const before = await startWithUser(t);
  const { accessToken } = await before.api.signIn(username, password);
  const jwks = await jwksOf(before);
  await before.stop();
  const after = await startTestGateway(t, { folder: before.folder });
  t.same(await jwksOf(after), jwks);
  t.equal((await after.api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
});

t.test(
  'after a change of algorithm old tokens are still valid, and new ones use the new algorithm',
  async (t) => {
    const before = await startWithUser(t);
    const old = await before.api.signIn(username, password);
    await before.stop();
    const after = await startTestGateway(t, {
      folder: before.folder,
      config: { tokens: { algorithm: 'EdDSA' } },
    });
    const fresh = await after.api.signIn(username, password);
    t.equal(decodeProtectedHeader(fresh.accessToken).alg, 'EdDSA');
    const jwks = await jwksOf(after);
    t.equal(jwks.keys.length, 2);
    for (const { accessToken } of [old, fresh]) {
      await verify(accessToken, jwks);
      t.equal((await after.api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
    }
  },
);

t.test('another gateway has keys of its own', async (t) => {
  const [one, two] = [await startWithUser(t), await startWithUser(t)];
  const { accessToken } = await one.api.signIn(username, password);
  await t.rejects(verify(accessToken, await jwksOf(two)), errors.JWKSNoMatchingKey);
  t.equal((await two.api.send({ path: '/api/store/x', bearer: accessToken })).status, 401);
});

t.test('a key that another replica has added is valid here, and is published', async (t) => {
  const early = await startWithUser(t, { tokens: { algorithm: 'ES256' } });
  const late = await startTestGateway(t, {
    folder: early.folder,
    config: { tokens: { algorithm: 'EdDSA' } },
  });
  const { accessToken } = await late.api.signIn(username, password);
  const { status } = await early.api.send({ path: '/api/store/x', bearer: accessToken });
  t.equal(status, 200);
  const kids = async (gateway: Pick<TestGateway, 'api'>) =>
    (await jwksOf(gateway)).keys.map(({ kid }) => kid).sort();
  const published = await kids(early);
  t.equal(published.length, 2);
  t.same(published, await kids(late));
  await verify(accessToken, await jwksOf(early));
});
