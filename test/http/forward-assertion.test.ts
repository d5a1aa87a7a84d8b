import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import {
  type Algorithm,
  algorithms,
  assertionKeysPath,
  assertionSettings,
  exampleVerifier,
  makeSecret,
  verifyWithJose,
} from '../support/servers/asserting-upstream.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';
import { type SeenRequest, startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const routes = [
  { prefix: '/api/open', upstream: 'app', public: true },
  { prefix: '/api/cors', upstream: 'app', preflight: 'upstream' },
  { prefix: '/api/other', upstream: 'other' },
  { prefix: '/api', upstream: 'app' },
];

async function start(t: TestScope, algorithm: Algorithm, more: { listen?: object; url?: string } = {}) {
  const { secret, file } = makeSecret();
  const recorder = await startRecordingUpstream();
  t.teardown(() => recorder.close());
  const { url = recorder.url, ...others } = more;
  const upstreams = {
    app: { url, assertion: assertionSettings(algorithm, file) },
    other: { url: 'builtin:echo' },
  };
  const gateway = await startForwarding(t, { upstreams, routes, ...others });
  return { ...gateway, seen: recorder.seen, algorithm, secret };
}

const assertionOf = (seen: SeenRequest | undefined) => {
  const values = seen?.values('x-auth-assertion') ?? [];
  return values.length === 1 ? values[0]! : '';
};
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');

for (const engine of ['built_in', 'node'])
  for (const algorithm of engine === 'node' ? (['HS256'] as const) : algorithms)
    t.test(`every request proves whose it is: ${algorithm}, engine ${engine}`, async (t) => {
      const gateway = await start(t, algorithm, { listen: { engine } });
      const verify = exampleVerifier(gateway);
      const { api, seen, bearer, key } = gateway;
      const last = () => seen.at(-1)!;

      await api.send({
        path: '/api/x%20y?page=2',
        bearer,
        headers: { 'x-request-id': 'mine', 'X-Auth-Assertion': 'evil', x_auth_assertion: 'evil' },
      });
      const claims = await verify(last());
      const header = (name: string) => last().values(name)[0];
      t.strictSame(claims, {
        iss: 'https://acme.example.com',
        aud: 'app',
        tenant: 'acme',
        sub: header('x-auth-subject'),
        username: header('x-auth-username'),
        method: 'session',
        scope: header('x-auth-scopes'),
        sid: header('x-auth-session-id'),
        iat: claims.iat,
        exp: claims.iat! + 30,
        jti: claims.jti,
        request_id: 'mine',
        htm: 'GET',
        htt: hashOf('/api/x%20y?page=2'),
      });
      t.strictSame(await verifyWithJose(assertionOf(last()), gateway), claims);
      const kid = algorithm === 'HS256' ? [] : ['kid'];
      t.strictSame(Object.keys(decodeProtectedHeader(assertionOf(last()))).sort(), ['alg', ...kid, 'typ']);

      await api.send({ path: '/api/y?', headers: { 'x-api-key': key }, method: 'PUT', body: 'x' });
      const ofKey = await verify(last());
      t.match(ofKey, { method: 'api_key', key_id: gateway.keyId, htm: 'PUT', htt: hashOf('/api/y') });
      t.notOk('sid' in ofKey);

      await api.send({ path: '/api/open/z' });
      const anonymous = await verify(last());
      t.strictSame(Object.keys(anonymous).sort(), 'aud exp htm htt iat iss jti request_id tenant'.split(' '));
      t.equal(last().values('x-auth-tenant').length, 0);

      await api.send({
        method: 'OPTIONS',
        path: '/api/cors/x?a=b',
        bearer,
        headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' },
      });
      t.match(await verify(last()), { htm: 'OPTIONS', htt: hashOf('/api/cors/x'), sub: undefined });

      const other = await api.send({ path: '/api/other/x', bearer, headers: { 'X-Auth-Assertion': 'evil' } });
      t.equal(other.status, 200);
      t.notMatch(other.text, /assertion|evil/i, 'an upstream that asks for no proof gets none');
      t.equal(new Set(seen.map(assertionOf)).size, seen.length);

      // No token passes as the other's.
      const assertion = assertionOf(last());
      const asToken = await api.send({ path: '/api/x', bearer: assertion });
      t.match(asToken, { status: 401, json: { code: 'invalid_token' } });
      const asKey = await api.send({ path: '/api/x', headers: { 'x-api-key': assertion } });
      t.match(asKey, { status: 401, json: { code: 'invalid_api_key' } });
      const rawHeaders = last().rawHeaders.map((value) => (value === assertion ? bearer : value));
      await t.rejects(verify({ ...last(), rawHeaders }), { message: /alg or typ/ });
    });

t.test('an upgrade carries it, by either engine', async (t) => {
  for (const engine of ['built_in', 'node']) {
    const heads: string[] = [];
    const upstream = await startRawUpstream(t, ({ socket, text }) => {
      heads.push(text);
      socket.end(plainResponse('no'));
    });
    const gateway = await start(t, 'EdDSA', { listen: { engine }, url: upstream.url });
    const socket = connect(gateway.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    socket.write(
      gateway.raw('GET /api/live HTTP/1.1', [...upgrade, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']),
    );
    await eventually('the upstream has the request', () => heads.length > 0);
    const [token] = [...heads[0]!.matchAll(/^x-auth-assertion: (.*)\r$/gim)].map(([, value]) => value!);
    t.match(await verifyWithJose(token!, gateway), { htm: 'GET', htt: hashOf('/api/live') }, engine);
  }
});

t.test('a retry is signed anew', async (t) => {
  const heads: string[] = [];
  const upstream = await startRawUpstream(t, ({ socket, index, text }) => {
    if (text.includes('/api/second')) heads.push(text);
    if (index > 0) socket.resetAndDestroy();
    else socket.write(plainResponse('fine'));
  });
  const gateway = await start(t, 'ES256', { url: upstream.url });
  await gateway.api.send({ path: '/api/first', bearer: gateway.bearer });
  t.equal((await gateway.api.send({ path: '/api/second', bearer: gateway.bearer })).status, 200);
  const tokens = heads.map((head) => /^x-auth-assertion: (.*)\r$/im.exec(head)![1]!);
  t.equal(tokens.length, 2);
  const claims = await Promise.all(tokens.map((token) => verifyWithJose(token, gateway)));
  t.not(claims[0]!.jti, claims[1]!.jti);
});

t.test('a request that waits for a connection is signed when it is sent', async (t) => {
  const tokens: string[] = [];
  let release = () => {};
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    tokens.push(/^x-auth-assertion: (.*)\r$/im.exec(text)![1]!);
    if (tokens.length === 1) release = () => socket.write(plainResponse('first'));
    else socket.write(plainResponse('second'));
  });
  const { file } = makeSecret();
  const assertion = assertionSettings('HS256', file, { lifetime: '2s' });
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: upstream.url, max_connections: 1, assertion } },
  });
  const send = () => gateway.api.send({ path: '/api/x', headers: { 'x-api-key': gateway.key } });
  const first = send();
  await eventually('the upstream has the first', () => tokens.length === 1);
  const second = send();
  await eventually('the second waits', async () =>
    /upstream_waiting\S* 1/.test(await metricsOf(gateway.managementPort)),
  );
  gateway.advance(60_000);
  release();
  t.strictSame([(await first).status, (await second).status], [200, 200]);
  const [one, two] = tokens.map((token) => decodeJwt(token));
  t.ok(two!.iat! - one!.iat! >= 60, 'a minute later');
});

const metricsOf = async (port: number) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

t.test('the keys are published on both listeners, and are none of access tokens', async (t) => {
  const gateway = await start(t, 'EdDSA');
  const published = await gateway.api.send({ path: assertionKeysPath, bearer: 'stale' });
  t.match(published, { status: 200, headers: { 'cache-control': 'public, max-age=300' } });
  t.strictSame(
    published.json.keys.map((key: object) => Object.keys(key).sort()),
    [['alg', 'crv', 'kid', 'kty', 'use', 'x']],
  );
  const managed = await fetch(`http://127.0.0.1:${gateway.managementPort}${assertionKeysPath}`);
  t.equal(managed.headers.get('cache-control'), 'public, max-age=300');
  t.strictSame(await managed.json(), published.json);
  const { json } = await gateway.api.send({ path: '/.well-known/jwks.json' });
  t.notMatch(JSON.stringify(json), published.json.keys[0].kid);
  t.match(await gateway.api.send({ path: `${assertionKeysPath}/` }), { status: 200 });
  t.match(await gateway.api.send({ path: assertionKeysPath, method: 'POST' }), { status: 405 });
});

t.test('a secret is never published', async (t) => {
  const gateway = await start(t, 'HS256');
  t.strictSame((await gateway.api.send({ path: assertionKeysPath })).json, { keys: [] });
});

t.test('a secret is read anew at a reload', async (t) => {
  const one = makeSecret();
  const two = makeSecret();
  const upstreams = (file: string) => ({
    app: { url: 'builtin:echo', assertion: assertionSettings('HS256', file) },
  });
  const gateway = await startForwarding(t, { upstreams: upstreams(one.file) });
  const verify = async (secret: Buffer) => {
    const { json } = await gateway.api.send({ path: '/api/x', bearer: gateway.bearer });
    const [, token] = json.headers.find(([name]: [string]) => name.toLowerCase() === 'x-auth-assertion');
    return verifyWithJose(token, { algorithm: 'HS256', secret, api: gateway.api });
  };
  await verify(one.secret);
  await gateway.reload({ upstreams: upstreams(two.file) });
  await verify(two.secret);
  await t.rejects(verify(one.secret));
});
