import t, { type Test } from 'tap';
import { createDiscovery } from '../../src/identity-providers/discovery.ts';
import { createProviderKeys } from '../../src/identity-providers/key-set.ts';
import { createProviderNetwork } from '../../src/identity-providers/provider-network.ts';
import { es256, foreign, jwkOf, rs256 } from '../support/corpora/forged-assertions.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';

const second = 1_000;
const minute = 60 * second;
const header = { alg: 'ES256', kid: 'e1' };
const unknown = { alg: 'ES256', kid: 'e2' };

async function setUp(t: Test) {
  const provider = await startStubProvider(t);
  const network = createProviderNetwork({ documentTimeoutMs: 500, fetchTimeoutMs: 500 });
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

t.test('a rotation is picked up at once, the next after 30 s', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(es256), jwkOf(foreign, { kid: 'e2' })]);
  const found = await Promise.all([keys.find(unknown), keys.find(unknown), keys.find(header)]);
  t.ok(found[0].equals(foreign.publicKey));
  t.equal(fetches(), 2);
  publish(provider, [jwkOf(foreign, { kid: 'e3' })]);
  clock.now += 30 * second - 1;
  await t.rejects(keys.find({ alg: 'ES256', kid: 'e3' }), { code: 'invalid_assertion' });
  clock.now += 1;
  t.ok(await keys.find({ alg: 'ES256', kid: 'e3' }));
  t.equal(fetches(), 3);
});

t.test('a key that is no longer published is no longer used', async (t) => {
  const { provider, keys } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(rs256)]);
  await t.rejects(keys.find(unknown), { code: 'invalid_assertion' });
  await t.rejects(keys.find(header), { code: 'invalid_assertion' });
});

t.test('a withdrawn key is used for ten minutes at most', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  publish(provider, [jwkOf(rs256)]);
  clock.now += 10 * minute - 1;
  t.ok(await keys.find(header));
  t.equal(fetches(), 1);
  clock.now += 1;
  await t.rejects(keys.find(header), { code: 'invalid_assertion' }, 'not once more');
});

t.test("keys older than ten minutes are not used while they can't be fetched", async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  provider.responses.clear();
  clock.now += 10 * minute - 1;
  t.ok(await keys.find(header));
  clock.now += 1;
  await t.rejects(keys.find(header), { code: 'provider_unavailable' });
  publish(provider, [jwkOf(es256)]);
  clock.now += second / 2;
  t.ok(await keys.find(header), 'half a second later');
});

t.test('a flood of unknown kids causes one fetch in 30 s', async (t) => {
  const { keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  for (let elapsed = 0; elapsed < 60; elapsed += 1) {
    const flood = Array.from({ length: 100 }, (_, index) => keys.find({ alg: 'ES256', kid: `x${index}` }));
    const outcomes = await Promise.allSettled(flood);
    t.ok(outcomes.every(({ status }) => status === 'rejected'));
    clock.now += second;
  }
  t.equal(fetches(), 3, 'the first, at once and after 30 s');
  t.ok(await keys.find(header), 'known keys are still found');
});

t.test('while the provider is unavailable it causes no more, and an unknown key is 503', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  await keys.find(header);
  provider.responses.set('/jwks', json({}, 500));
  for (let elapsed = 0; elapsed < 60; elapsed += 1) {
    await t.rejects(keys.find(unknown), { code: 'provider_unavailable' });
    clock.now += second;
  }
  t.equal(fetches(), 3);
  t.ok(await keys.find(header));
});

t.test('without any key it is 503', async (t) => {
  const { provider, keys, clock, fetches } = await setUp(t);
  provider.responses.set('/jwks', json({}, 500));
  await t.rejects(keys.find(header), { code: 'provider_unavailable' });
  await t.rejects(keys.find(header), { code: 'provider_unavailable' });
  t.equal(fetches(), 1, 'remembered for a while');
  clock.now += second / 2;
  publish(provider, [jwkOf(es256)]);
  t.ok(await keys.find(header));
});

t.test('a set without a usable key does not replace a usable one', async (t) => {
  const { provider, keys, clock } = await setUp(t);
  await keys.find(header);
  for (const broken of [{ keys: [] }, {}, { keys: [{ kty: 'oct', k: 'AAAA', kid: 'e2' }] }]) {
    provider.responses.set('/jwks', json(broken));
    await t.rejects(keys.find(unknown), { code: 'provider_unavailable' });
    t.ok(await keys.find(header));
    clock.now += 30 * second;
  }
});
