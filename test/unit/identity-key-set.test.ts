import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { chooseKey, parseKeySet } from '../../src/identity-providers/key-set.ts';
import {
  eddsa,
  es256,
  foreign,
  jwkOf,
  type ProviderKey,
  rs256,
} from '../support/corpora/forged-assertions.ts';

const usable = (...keys: readonly unknown[]) => parseKeySet({ keys }).map((key) => key.kid);
const weakRsa: ProviderKey = {
  kid: 'w1',
  alg: 'RS256',
  ...generateKeyPairSync('rsa', { modulusLength: 1024 }),
};
const secp256k1: ProviderKey = {
  kid: 'k1',
  alg: 'ES256K',
  ...generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
};
const privateJwk = { ...es256.privateKey.export({ format: 'jwk' }), kid: 'e1' };

t.test('valid keys are usable', (t) => {
  t.strictSame(usable(jwkOf(rs256), jwkOf(es256), jwkOf(eddsa)), ['r1', 'e1', 'o1']);
  t.strictSame(usable(jwkOf(es256, { use: undefined, alg: undefined })), ['e1'], 'use and alg may be absent');
  t.strictSame(usable(jwkOf(es256, { key_ops: ['verify'] })), ['e1']);
  t.strictSame(usable(jwkOf(eddsa, { alg: 'Ed25519' })), ['o1'], 'the newer name of EdDSA');
  t.strictSame(usable(jwkOf(es256, { kid: undefined })), [undefined]);
  t.end();
});

const ignored: Record<string, unknown> = {
  'a symmetric key': { kty: 'oct', k: 'AAAA', kid: 's1' },
  'a private key': privateJwk,
  'a public key with a symmetric part': jwkOf(es256, { k: 'AAAA' }),
  'an encryption key': jwkOf(rs256, { use: 'enc' }),
  'a key for wrapping only': jwkOf(rs256, { key_ops: ['wrapKey'] }),
  'key_ops that is not an array': jwkOf(rs256, { key_ops: 'verify' }),
  'an RSA key of 1024 bits': jwkOf(weakRsa),
  'an RSA key whose exponent is 1': jwkOf(rs256, { e: 'AQ' }),
  'an algorithm of another type': jwkOf(rs256, { alg: 'ES256' }),
  'a symmetric algorithm': jwkOf(rs256, { alg: 'HS256' }),
  'alg none': jwkOf(rs256, { alg: 'none' }),
  'a curve that no algorithm here has': jwkOf(secp256k1),
  'a point off the curve': jwkOf(es256, { x: jwkOf(foreign).x }),
  'a kid that is not a string': jwkOf(es256, { kid: 1 }),
  'an unknown type': jwkOf(es256, { kty: 'constructor' }),
  'an RSA key without modulus': jwkOf(rs256, { n: undefined }),
  'a key that is null': null,
  'a key that is an array': [],
  'a key that is a string': 'key',
};
for (const [name, key] of Object.entries(ignored)) {
  t.test(`ignored: ${name}`, (t) => {
    t.strictSame(usable(key), []);
    t.strictSame(usable(key, jwkOf(eddsa)), ['o1'], 'the others stay');
    t.end();
  });
}

t.test('a kid that names different keys names none', (t) => {
  t.strictSame(usable(jwkOf(es256), jwkOf(foreign), jwkOf(rs256)), ['r1']);
  t.strictSame(usable(jwkOf(es256), jwkOf(rs256, { kid: 'e1' })), []);
  t.strictSame(usable(jwkOf(es256), jwkOf(es256)), ['e1'], 'the same key twice is one');
  t.strictSame(
    usable(jwkOf(es256), jwkOf(rs256, { kid: 'e1', use: 'enc' })),
    ['e1'],
    'an encryption key does not count',
  );
  t.end();
});

t.test('a document that is not a key set has no keys', (t) => {
  for (const keys of [undefined, null, {}, 'x', []]) t.strictSame(parseKeySet({ keys }), []);
  t.end();
});

t.test('keys beyond the first hundred are ignored', (t) => {
  const others = Array.from({ length: 100 }, (_, index) => jwkOf(es256, { kid: `x${index}` }));
  t.equal(usable(...others, jwkOf(rs256)).includes('r1'), false);
  t.end();
});

t.test('a header chooses its key', (t) => {
  const keys = parseKeySet({ keys: [jwkOf(rs256, { alg: undefined }), jwkOf(es256), jwkOf(eddsa)] });
  const chosen = (alg: string, kid?: string) => chooseKey(keys, { alg, kid })?.kid;
  t.equal(chosen('ES256', 'e1'), 'e1');
  t.equal(chosen('RS256', 'r1'), 'r1');
  t.equal(chosen('PS256', 'r1'), 'r1', 'a key without alg is for all of its type');
  t.equal(chosen('RS256', 'e1'), undefined, 'the key is of another type');
  t.equal(chosen('ES256', 'E1'), undefined, 'exactly that kid');
  t.equal(chosen('ES256', ''), undefined);
  t.equal(chosen('ES256'), 'e1', 'without kid, the only one that fits');
  const two = parseKeySet({ keys: [jwkOf(es256), jwkOf(foreign, { kid: 'e2' })] });
  t.equal(chooseKey(two, { alg: 'ES256' }), undefined, 'two fit');
  const nameless = parseKeySet({ keys: [jwkOf(es256, { kid: undefined })] });
  t.equal(chooseKey(nameless, { alg: 'ES256', kid: 'e1' }), undefined, 'a kid that no key has');
  t.end();
});
