import { createHash } from 'node:crypto';
import t from 'tap';
import { generateSigningKey } from '../../src/credentials/signing-keys.ts';

const required = { ES256: ['crv', 'kty', 'x', 'y'], EdDSA: ['crv', 'kty', 'x'], RS256: ['e', 'kty', 'n'] };

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  t.test(`${algorithm}: a new key is named by its RFC 7638 thumbprint`, async (t) => {
    const key = await generateSigningKey({ purpose: 'assertion', algorithm });
    const jwk = JSON.parse(key.privateJwk);
    const members = required[algorithm].map((name) => [name, jwk[name]]);
    const thumbprint = createHash('sha256').update(JSON.stringify(Object.fromEntries(members)));
    t.equal(key.kid, thumbprint.digest('base64url'));
    t.type(jwk.d, 'string');
    t.match(key, { algorithm, purpose: 'assertion' });
  });
}

t.test('a secret has 32 bytes, and a name that says nothing about them', async (t) => {
  const [one, other] = [await newSecret(), await newSecret()];
  t.equal(Buffer.from(one.k, 'base64url').length, 32);
  t.equal(one.kty, 'oct');
  t.not(one.k, other.k);
  t.match(one.kid, /^[0-9a-f]{8}-[0-9a-f]{4}-7/, 'a UUIDv7');
});

async function newSecret(): Promise<{ readonly kty: string; readonly k: string; readonly kid: string }> {
  const { kid, privateJwk } = await generateSigningKey({ purpose: 'cookie', algorithm: 'HS256' });
  return { ...JSON.parse(privateJwk), kid };
}
