import t from 'tap';
import { accessTokenUse } from '../../src/credentials/access-token.ts';
import { headerOf as headerWithType, KeyRing } from '../../src/credentials/key-ring.ts';
import { generateSigningKey, KnownKeys } from '../../src/credentials/signing-keys.ts';
import type { NewSigningKey } from '../../src/stores/signing-keys.ts';
import { signing } from '../support/administration/signing-keys.ts';
import { KeyStore } from '../support/stores/key-store.ts';

const purpose = 'access-token';
const first = signing(await generateSigningKey({ purpose, algorithm: 'ES256' }), 1);
const second = signing(await generateSigningKey({ purpose, algorithm: 'EdDSA' }), 2);
const third = signing(await generateSigningKey({ purpose, algorithm: 'ES256' }), 3);
const headerOf = (key: NewSigningKey) => headerWithType(key, 'at+jwt');
const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
const kids = (set: { keys: readonly { kid?: string }[] }) => set.keys.map(({ kid }) => kid);

/** A ring over a store in the test's hand, which has been read once. */
async function setUp() {
  const store = new KeyStore(first);
  const clock = { now: 10_000 };
  const known = new KnownKeys({ records: store, now: () => 0, elapsed: () => clock.now });
  await known.refresh();
  store.asked = 0;
  return { store, clock, known, ring: new KeyRing(known, accessTokenUse) };
}

t.test('a known key is found without asking the store', async (t) => {
  const { store, ring } = await setUp();
  t.match(ring.find(encoded(headerOf(first))), { kid: first.kid });
  t.equal(store.asked, 0);
});

t.test('a key added since is looked up, and published', async (t) => {
  const { store, ring } = await setUp();
  store.keys = [second, first];
  t.match(await ring.find(encoded(headerOf(second))), { kid: second.kid });
  t.match(ring.find(encoded(headerOf(second))), { kid: second.kid }, 'without a wait from then on');
  t.equal(store.asked, 1);
  t.strictSame(kids(await ring.published()), [second.kid, first.kid]);
});

t.test('the published keys include those added since, at one query a second', async (t) => {
  const { store, clock, ring } = await setUp();
  t.strictSame(kids(await ring.published()), [first.kid]);
  store.keys = [second, first];
  t.strictSame(kids(await ring.published()), [first.kid]);
  clock.now += 1_000;
  t.strictSame(kids(await ring.published()), [second.kid, first.kid]);
  clock.now += 1_000;
  store.isDown = true;
  t.strictSame(kids(await ring.published()), [second.kid, first.kid], 'also while the store is unavailable');
});

t.test('made-up names cost the store one query a second', async (t) => {
  const { store, clock, ring } = await setUp();
  const ask = (n: number) => ring.find(encoded({ alg: 'ES256', typ: 'at+jwt', kid: `made-up-${n}` }));
  const found = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask(n)));
  t.ok(found.every((key) => key === undefined));
  t.equal(store.asked, 1);
  clock.now += 999;
  t.equal(await ask(1), undefined);
  t.equal(store.asked, 1);
  clock.now += 1;
  t.equal(await ask(1), undefined);
  t.equal(store.asked, 2);
});

for (const [what, header] of Object.entries({
  'no base64url': '%%%',
  'no JSON': encoded({}).slice(1),
  nothing: '',
  null: Buffer.from('null').toString('base64url'),
  'another algorithm': encoded({ alg: 'HS256', typ: 'at+jwt', kid: 'k' }),
  'another type': encoded({ alg: 'ES256', typ: 'JWT', kid: 'k' }),
  'another order': encoded({ kid: 'k', alg: 'ES256', typ: 'at+jwt' }),
  'a member more': encoded({ alg: 'ES256', typ: 'at+jwt', kid: 'k', jwk: {} }),
  'a name that is none': encoded({ alg: 'ES256', typ: 'at+jwt', kid: 1 }),
  'a name too long': encoded({ alg: 'ES256', typ: 'at+jwt', kid: 'k'.repeat(300) }),
}))
  t.test(`a header that is not ours is not looked for: ${what}`, async (t) => {
    const { store, ring } = await setUp();
    t.equal(ring.find(header), undefined);
    t.equal(store.asked, 0);
  });

t.test('while the store is unavailable an unknown key is 503, not 401', async (t) => {
  const { store, clock, ring } = await setUp();
  store.isDown = true;
  await t.rejects(async () => ring.find(encoded(headerOf(second))), /down/);
  await t.rejects(async () => ring.find(encoded(headerOf(second))), /down/);
  t.equal(store.asked, 1);
  store.isDown = false;
  store.keys = [second, first];
  clock.now += 1_000;
  t.match(await ring.find(encoded(headerOf(second))), { kid: second.kid });
});

t.test('the unretired key of an algorithm that began last signs', async (t) => {
  const { store, known, ring } = await setUp();
  t.equal(ring.signer('ES256').kid, first.kid);
  t.throws(() => ring.signer('EdDSA'), /no signing key/);
  const next = { ...third, signsFrom: null };
  for (const [keys, signer] of [
    [[next, first], first],
    [[third, { ...first, retired: 3 }], third],
    [[{ ...third, retired: 4 }, first], first],
    [[third, first], third],
  ] as const) {
    store.keys = keys;
    store.changes += 1;
    await known.refresh();
    t.equal(ring.signer('ES256').kid, signer.kid);
    t.strictSame(kids(await ring.published()), [third.kid, first.kid], 'all of them are published');
  }
});

t.test('a removed key no longer counts', async (t) => {
  const { store, known, ring } = await setUp();
  t.ok(ring.has(first.kid));
  store.keys = [third];
  t.ok(ring.has(first.kid), 'as far as is known');
  store.changes += 1;
  await known.refresh();
  t.notOk(ring.has(first.kid));
  t.strictSame(kids(await ring.published()), [third.kid]);
});

t.test('no ring has a key of another purpose', async (t) => {
  const { store, known } = await setUp();
  store.keys = [signing(await generateSigningKey({ purpose: 'cookie', algorithm: 'HS256' })), first];
  store.changes += 1;
  await known.refresh();
  const other = new KeyRing(known, { purpose: 'assertion', type: 'other' });
  t.strictSame(await other.published(), { keys: [] });
  t.notOk(other.has(first.kid));
  t.equal(await other.find(encoded(headerWithType(first, 'other'))), undefined);
});
