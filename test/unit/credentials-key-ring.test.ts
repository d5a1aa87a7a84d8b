import t from 'tap';
import { createKeyRing, headerOf } from '../../src/credentials/key-ring.ts';
import { generateSigningKey } from '../../src/credentials/signing-keys.ts';
import { Refusal } from '../../src/errors.ts';
import type { SigningKey } from '../../src/stores/records.ts';

const first = await generateSigningKey('ES256', 1);
const second = await generateSigningKey('EdDSA', 2);
const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
const kids = (set: { keys: readonly { kid?: string }[] }) => set.keys.map(({ kid }) => kid);

/** A ring over a store in the test's hand. */
function setUp() {
  const store = { keys: [first] as readonly SigningKey[], asked: 0, isDown: false, now: 10_000 };
  const ring = createKeyRing({
    keys: [first],
    elapsed: () => store.now,
    async load() {
      store.asked += 1;
      if (store.isDown) throw new Refusal('store_unavailable');
      return store.keys;
    },
  });
  return { store, ring };
}

t.test('a known key is found without asking the store', async (t) => {
  const { store, ring } = setUp();
  t.match(ring.find(encoded(headerOf(first))), { kid: first.kid });
  t.equal(store.asked, 0);
});

t.test('a key added since is looked up, and published', async (t) => {
  const { store, ring } = setUp();
  store.keys = [second, first];
  t.match(await ring.find(encoded(headerOf(second))), { kid: second.kid });
  t.match(ring.find(encoded(headerOf(second))), { kid: second.kid }, 'without a wait from then on');
  t.equal(store.asked, 1);
  t.strictSame(kids(await ring.published()), [second.kid, first.kid]);
});

t.test('the published keys include those added since, at one query a second', async (t) => {
  const { store, ring } = setUp();
  t.strictSame(kids(await ring.published()), [first.kid]);
  store.keys = [second, first];
  t.strictSame(kids(await ring.published()), [first.kid]);
  store.now += 1_000;
  t.strictSame(kids(await ring.published()), [second.kid, first.kid]);
  store.now += 1_000;
  store.isDown = true;
  t.strictSame(kids(await ring.published()), [second.kid, first.kid], 'also while the store is unavailable');
});

t.test('made-up names cost the store one query a second', async (t) => {
  const { store, ring } = setUp();
  const ask = (n: number) => ring.find(encoded({ alg: 'ES256', typ: 'at+jwt', kid: `made-up-${n}` }));
  const found = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask(n)));
  t.ok(found.every((key) => key === undefined));
  t.equal(store.asked, 1);
  store.now += 999;
  t.equal(await ask(1), undefined);
  t.equal(store.asked, 1);
  store.now += 1;
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
    const { store, ring } = setUp();
    t.equal(ring.find(header), undefined);
    t.equal(store.asked, 0);
  });

t.test('while the store is unavailable an unknown key is 503, not 401', async (t) => {
  const { store, ring } = setUp();
  store.isDown = true;
  await t.rejects(async () => ring.find(encoded(headerOf(second))), { code: 'store_unavailable' });
  await t.rejects(async () => ring.find(encoded(headerOf(second))), { code: 'store_unavailable' });
  t.equal(store.asked, 1);
  store.isDown = false;
  store.keys = [second, first];
  store.now += 1_000;
  t.match(await ring.find(encoded(headerOf(second))), { kid: second.kid });
});
