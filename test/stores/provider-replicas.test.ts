import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { startReplicas } from '../support/gateway/replicas.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

/** A sign-in begun at the first of two gateways and ended at both, ten times each, all at once. */
async function judge(t: Test, sessions: string): Promise<void> {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const common = { issuer: stub.origin, client_id: 'postern', redirect_uri: 'https://acme.example.com/in' };
  const identityProviders = { idp: common, coded: { ...common, response: 'code' } };
  const gateways = await startReplicas(t, [sessions, sessions], { identity_providers: identityProviders });
  for (const provider of ['idp', 'coded']) {
    const path = `/api/login/${provider}`;
    const begun = await gateways[0].api.send({ path: `${path}/start` });
    const { nonce, state = '' } = Object.fromEntries(new URL(begun.json.url).searchParams);
    const iat = Math.floor(Date.now() / 1000);
    const assertion = forge(header, { ...exampleClaims, iss: stub.origin, iat, exp: iat + 300, nonce });
    stub.responses.set('/token', (request, response) => {
      // Long enough for each of the others to come in between.
      void sleep(100).then(() =>
        json({ access_token: 'a', token_type: 'bearer', id_token: assertion })(request, response),
      );
    });
    const form: Record<string, string> = provider === 'idp' ? { assertion } : { code: 'c', state };
    const cookie = begun.setCookies[0]!.split(';', 1)[0]!;
    const send = (index: number) =>
      gateways[index % 2]!.api.send({ method: 'POST', path: `${path}/exchange`, form, cookie });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)));
    t.same(responses.map(({ status }) => status).sort(), [200, ...Array(19).fill(401)], provider);
    for (const index of [0, 1]) t.equal((await send(index)).status, 401, `${provider}, later`);
  }
  t.equal(stub.count('/token'), 1, 'the code was sent once');
}

t.test('two gateways on one file redeem an assertion and a code once', async (t) => {
  await judge(t, 'sqlite:sessions.db');
});

t.test('two gateways on one Redis redeem an assertion and a code once', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  await judge(t, redis.url);
});
