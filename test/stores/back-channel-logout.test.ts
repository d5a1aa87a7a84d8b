import t, { type Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { logoutClaims, logoutHeader } from '../support/corpora/forged-logout-tokens.ts';
import { eventually } from '../support/eventually.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { cookieOf, startReplicas, statusesAt } from '../support/gateway/replicas.ts';
import { respondWithoutEnd } from '../support/servers/event-stream.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

/** Two gateways with a provider whose tokens the test signs. */
async function setUp(t: Test, sessions: string) {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const events = await startHttpUpstream(t, respondWithoutEnd);
  const idp = { issuer: stub.origin, client_id: 'postern', redirect_uri: 'https://acme.example.com/in' };
  const [one, other] = await startReplicas(t, [sessions, sessions], {
    identity_providers: { idp },
    upstreams: { events: { url: events.url }, app: { url: 'builtin:echo' } },
    routes: [
      { prefix: '/api/events', upstream: 'events' },
      { prefix: '/api', upstream: 'app' },
    ],
  });
  const sign = (first: object, change: object) => {
    const iat = Math.floor(Date.now() / 1000);
    return forge(first, { ...exampleClaims, iss: stub.origin, iat, exp: iat + 300, ...change });
  };
  const path = '/api/login/idp';

  async function signIn({ api }: GatewayProcess, sid: string) {
    const begun = await api.send({ path: `${path}/start` });
    const nonce = new URL(begun.json.url).searchParams.get('nonce');
    const form = { assertion: sign(header, { nonce, sid }) };
    const cookie = begun.setCookies[0]!.split(';', 1)[0]!;
    const response = await api.send({ method: 'POST', path: `${path}/exchange`, form, cookie });
    return { bearer: response.json.access_token as string, cookie: cookieOf(response) };
  }

  return {
    one,
    other,
    signIn,
    logoutToken: (sid: string) => sign(logoutHeader, { ...logoutClaims, sid, jti: crypto.randomUUID() }),
    logOut: ({ api }: GatewayProcess, token: string) =>
      api.send({ method: 'POST', path: `${path}/back-channel-logout`, form: { logout_token: token } }),
  };
}

/** An event stream under an access token. */
async function openStream({ port }: GatewayProcess, bearer: string) {
  const stream = await connectRaw(port);
  stream.write(`GET /api/events HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${bearer}\r\n\r\n`);
  await stream.received('data: 1');
  return stream;
}

async function judge(t: Test, sessions: string): Promise<void> {
  const { one, other, signIn, logoutToken, logOut } = await setUp(t, sessions);
  const ending = await signIn(one, 'ending');
  const staying = await signIn(other, 'staying');
  const streams = [await openStream(one, ending.bearer), await openStream(other, ending.bearer)];
  const kept = await openStream(one, staying.bearer);
  const token = logoutToken('ending');
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => (await logOut(index % 2 ? one : other, token)).status),
  );
  t.same(statuses.sort(), [200, ...Array(9).fill(400)], 'it is accepted once');
  await Promise.all(streams.map(({ closed }) => closed));
  for (const gateway of [one, other]) {
    await eventually('it has ended', async () => {
      const [status] = await statusesAt(gateway, [ending.bearer], []);
      return status === 401;
    });
    t.same(await statusesAt(gateway, [staying.bearer], [staying.cookie]), [200, 200]);
    t.equal((await logOut(gateway, token)).status, 400);
  }
  kept.reset();
}

t.test('two gateways on one file: a logout token ends what both have open', async (t) => {
  await judge(t, 'sqlite:sessions.db');
});

t.test('two gateways on one Redis: a logout token ends what both have open', async (t) => {
  if (!requireRedis(t)) return;
  await judge(t, (await startRedis(t)).url);
});

t.test('while the session store is unavailable it is 503, and the same token works afterwards', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const { one, other, signIn, logoutToken, logOut } = await setUp(t, redis.url);
  const { bearer, cookie } = await signIn(one, 'ending');
  const token = logoutToken('ending');
  redis.pause();
  t.match(await logOut(one, token), { status: 503, json: { code: 'store_unavailable' } });
  redis.resume();
  await eventually('the store is back', async () => (await logOut(other, token)).status === 200);
  await eventually('and used', async () => (await logOut(one, token)).status === 400);
  for (const gateway of [one, other])
    await eventually('the session has ended', async () => {
      const statuses = await statusesAt(gateway, [bearer], [cookie]);
      return statuses.every((status) => status === 401);
    });
});
