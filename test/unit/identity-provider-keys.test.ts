import t, { type Test } from 'tap';
import { createDiscovery } from '../../src/identity-providers/discovery.ts';
import { createProviderKeys } from '../../src/identity-providers/provider-keys.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { es256, foreign, jwkOf, rs256 } from '../support/forged-assertions.ts';
import { json, publish, startStubProvider } from '../support/stub-provider.ts';

const second = 1_000;
const hour = 3_600_000;
const header = { alg: 'ES256', kid: 'e1' };
const unknown = { alg: 'ES256', kid: 'e2' };

async function setUp(t: Test) {
  const provider = await startStubProvider(t);
  const network = createProviderNetwork({ timeoutMs: 500 });
  t.teardown(() => network.close());
  const clock = { now: 0 };
  const parts = { network, now: () => clock.now, onFailure() {} };
  const discovery = createDiscovery({ issuer: provider.origin, response: 'id_token', ...parts });
  const keys = createProviderKeys({ discovery, ...parts });
  publish(provider, [jwkOf(es256)]);
  return { provider, keys, clock, fetches: () => provider.count('/jwks') };
}

t.test('a key is found', async (t) => {
  const { keys, fetches } = await setUp(t);
  t.ok((await keys.find(header)).equals(es256.publicKey));
  t.ok((await keys.find({ alg: 'ES256' })).equals(es256.publicKey), 'also without kid');
  t.equal(fetches(), 1);
});

t.test('a rotation is picked up', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(es256), jwkOf(foreign, { kid: 'e2' })]);
  clock.now += 30 * second;
  t.ok((await keys.find(unknown)).equals(foreign.publicKey));
  t.equal(fetches(), 2);
});

t.test('a rotation in the cool-down is picked up after it', async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(foreign, { kid: 'e2' })]);
  clock.now += 30 * second - 1;
  await t.rejects(keys.find(unknown), { code: 'invalid_assertion' });
  clock.now += 1;
  t.ok(await keys.find(unknown));
});

t.test('a key that is published no more is used no more', async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(rs256)]);
  clock.now += 30 * second;
  await t.rejects(keys.find(unknown), { code: 'invalid_assertion' });
  await t.rejects(keys.find(header), { code: 'invalid_assertion' });
});

t.test('a flood of unknown kids causes one fetch in 30 s', async (t) => {
  const { keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  for (let elapsed = 0; elapsed < 60; elapsed += 1) {
    clock.now += second;
    const flood = Array.from({ length: 100 }, (_, index) => keys.find({ alg: 'ES256', kid: `x${index}` }));
    const outcomes = await Promise.allSettled(flood);
    t.ok(outcomes.every(({ status }) => status === 'rejected'));
  }
  t.equal(fetches(), 3, 'the first, after 30 s and after 60 s');
  t.ok(await keys.find(header), 'good ones pass meanwhile');
});

t.test('a flood while the provider is away causes no more', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  provider.answers.set('/jwks', json({}, 500));
  for (let elapsed = 0; elapsed < 60; elapsed += 1) {
    clock.now += second;
    await t.rejects(keys.find(unknown), { code: 'invalid_assertion' });
  }
  t.equal(fetches(), 3);
});

t.test('without a provider the keys last for a day', async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  provider.answers.clear();
  clock.now += 24 * hour - 1;
  t.ok(await keys.find(header));
  clock.now += 1;
  await t.rejects(keys.find(header), { code: 'store_unavailable' });
});

t.test('without any key the answer is 503', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  provider.answers.set('/jwks', json({}, 500));
  await t.rejects(keys.find(header), { code: 'store_unavailable' });
  await t.rejects(keys.find(header), { code: 'store_unavailable' });
  t.equal(fetches(), 1, 'remembered for a while');
  clock.now += 5 * second;
  publish(provider, [jwkOf(es256)]);
  t.ok(await keys.find(header));
});

t.test('a set without a usable key does not replace a good one', async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  for (const broken of [{ keys: [] }, {}, { keys: [{ kty: 'oct', k: 'AAAA', kid: 'e2' }] }]) {
    provider.answers.set('/jwks', json(broken));
    clock.now += 30 * second;
    await t.rejects(keys.find(unknown), { code: 'invalid_assertion' });
    t.ok(await keys.find(header));
  }
});
