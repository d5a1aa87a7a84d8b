import t, { type Test } from 'tap';
import { createDiscovery } from '../../src/identity-providers/discovery.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';

const path = '/.well-known/openid-configuration';

async function setUp(t: Test, response: 'id_token' | 'code' = 'code') {
  const provider = await startStubProvider(t);
  const network = createProviderNetwork({ documentTimeoutMs: 500, fetchTimeoutMs: 500 });
  t.teardown(() => network.close());
  const clock = { now: 0 };
  const failures: unknown[] = [];
  const discovery = createDiscovery({
    issuer: provider.origin,
    response,
    network,
    now: () => clock.now,
    onFailure: (error) => failures.push(error),
  });
  return { provider, discovery, clock, failures };
}

t.test('the document of the issuer is read', async (t) => {
  const { provider, discovery } = await setUp(t);
  publish(provider, [], {
    token_endpoint_auth_methods_supported: ['client_secret_post', 1],
    response_types_supported: ['code'],
    end_session_endpoint: `${provider.origin}/end`,
    unknown: 1,
  });
  t.strictSame(await discovery.get(), {
    issuer: provider.origin,
    authorization_endpoint: `${provider.origin}/auth`,
    jwks_uri: `${provider.origin}/jwks`,
    token_endpoint: `${provider.origin}/token`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    response_types_supported: ['code'],
    end_session_endpoint: `${provider.origin}/end`,
    authorization_response_iss_parameter_supported: false,
  });
});

t.test('the well-known path follows the issuer’s own, with and without a slash at its end', async (t) => {
  const asked: string[] = [];
  const network = {
    getObject: async (url: string) => {
      asked.push(url);
      return {};
    },
  };
  for (const issuer of ['https://a.example', 'https://a.example/', 'https://a.example/realms/x']) {
    const discovery = createDiscovery({
      issuer,
      response: 'id_token',
      network,
      now: () => 0,
      onFailure() {},
    });
    await t.rejects(discovery.get());
  }
  t.strictSame(asked, [
    `https://a.example${path}`,
    `https://a.example${path}`,
    `https://a.example/realms/x${path}`,
  ]);
});

t.test('an https issuer has no http endpoints', async (t) => {
  const issuer = 'https://a.example';
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
  };
  const read = (changes: object, response: 'code' | 'id_token' = 'code') =>
    createDiscovery({
      issuer,
      response,
      network: { getObject: async () => ({ ...document, ...changes }) },
      now: () => 0,
      onFailure() {},
    }).get();
  t.match(await read({}), document);
  t.match(await read({ token_endpoint: undefined }, 'id_token'), { issuer });
  const bad: Record<string, object> = {
    'an http authorization endpoint': { authorization_endpoint: 'http://a.example/auth' },
    'an http key set': { jwks_uri: 'http://a.example/jwks' },
    'an http token endpoint': { token_endpoint: 'http://a.example/token' },
    'no token endpoint': { token_endpoint: undefined },
    'no key set': { jwks_uri: undefined },
    'an endpoint that is a script': { authorization_endpoint: 'javascript:alert(1)' },
    'an endpoint that is a list': { authorization_endpoint: [`${issuer}/auth`] },
    'a relative endpoint': { jwks_uri: '/jwks' },
    'an endpoint with a user': { jwks_uri: 'https://u@a.example/jwks' },
    'an endpoint with a password': { jwks_uri: 'https://:p@a.example/jwks' },
    'an endpoint with a fragment': { authorization_endpoint: `${issuer}/auth#x` },
    'another issuer': { issuer: 'https://b.example' },
    'the issuer with a slash': { issuer: `${issuer}/` },
    'the issuer in upper case': { issuer: 'https://A.example' },
    'no issuer': { issuer: undefined },
  };
  for (const [name, changes] of Object.entries(bad))
    await t.rejects(read(changes), { code: 'provider_unavailable' }, name);
});

t.test('a dead provider is asked once in five seconds', async (t) => {
  const { provider, discovery, clock, failures } = await setUp(t);
  provider.responses.set(path, json({}, 500));
  const starts = Array.from({ length: 100 }, () => discovery.get());
  for (const { status } of await Promise.allSettled(starts)) t.equal(status, 'rejected');
  await t.rejects(discovery.get(), { code: 'provider_unavailable' });
  t.equal(provider.count(path), 1);
  t.equal(failures.length, 1);
  clock.now += 500;
  publish(provider, []);
  t.ok(await discovery.get());
});

t.test('a document with another issuer does not replace the valid one', async (t) => {
  const { provider, discovery, clock, failures } = await setUp(t);
  publish(provider, []);
  await discovery.get();
  publish(provider, [], { issuer: 'http://other.example' });
  clock.now += 3_600_000;
  t.equal((await discovery.get()).issuer, provider.origin);
  t.match(failures, [{ options: { cause: 'discovery document names another issuer' } }]);
});

t.test('an end of sessions elsewhere than https is left out: nobody has to go there', async (t) => {
  const { provider, discovery } = await setUp(t);
  publish(provider, [], { end_session_endpoint: 'http://elsewhere.example/end' });
  t.equal((await discovery.get()).end_session_endpoint, undefined);
});
