import { createHash } from 'node:crypto';
import t from 'tap';
import { generateSigningKey, loadSigningKeys } from '../../src/credentials/signing-keys.ts';
import type { SigningKey } from '../../src/stores/records.ts';

/** The part of the records store that holds signing keys; of two of an algorithm it keeps the first. */
function createKeyStore(...keys: SigningKey[]) {
  return {
    signingKeys: () => [...keys],
    async addSigningKey(key: SigningKey) {
      if (!keys.some((other) => other.algorithm === key.algorithm)) keys.unshift(key);
      return [...keys];
    },
  };
}

const required = { ES256: ['crv', 'kty', 'x', 'y'], EdDSA: ['crv', 'kty', 'x'], RS256: ['e', 'kty', 'n'] };

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  t.test(`${algorithm}: a new key is named by its RFC 7638 thumbprint`, async (t) => {
    const key = await generateSigningKey(algorithm, 42);
    const jwk = JSON.parse(key.privateJwk);
    const members = required[algorithm].map((name) => [name, jwk[name]]);
    const thumbprint = createHash('sha256').update(JSON.stringify(Object.fromEntries(members)));
    t.equal(key.kid, thumbprint.digest('base64url'));
    t.type(jwk.d, 'string');
    t.match(key, { algorithm, created: 42 });
  });
}

t.test('a key is generated at the first start and found at the next', async (t) => {
  const store = createKeyStore();
  const first = await loadSigningKeys(store, 'ES256', 1);
  t.equal(first.length, 1);
  t.match(first[0], { algorithm: 'ES256', created: 1 });
  t.strictSame(await loadSigningKeys(store, 'ES256', 2), first);
});

t.test('another algorithm gets its own key and the old ones stay', async (t) => {
  const old = await generateSigningKey('ES256', 1);
  const keys = await loadSigningKeys(createKeyStore(old), 'EdDSA', 2);
  t.strictSame(
    keys.map((key) => key.algorithm),
    ['EdDSA', 'ES256'],
  );
});

t.test('processes that start together end up with one key', async (t) => {
  const store = createKeyStore();
  const [one, two] = await Promise.all([
    loadSigningKeys(store, 'ES256', 1),
    loadSigningKeys(store, 'ES256', 1),
  ]);
  t.equal(one.length, 1);
  t.strictSame(one, two);
});
