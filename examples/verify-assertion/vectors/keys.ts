import { createECDH, createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  type AssertionKey,
  assertionUse,
  pairAssertionKey,
  secretAssertionKey,
} from '../../../src/credentials/assertion.ts';

/** How assertions are signed. */
export type Algorithm = 'EdDSA' | 'ES256' | 'HS256';

/** Keys that are the same each time, made of a word; they are for these vectors alone. */
const bytesOf = (word: string): Buffer => createHash('sha256').update(`postern vectors: ${word}`).digest();

/** An Ed25519 private key of 32 bytes in PKCS #8 (RFC 8410 §7). */
function edKey(word: string): KeyObject {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), bytesOf(word)]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function ecKey(word: string): KeyObject {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(bytesOf(word));
  const point = ecdh.getPublicKey();
  const part = (from: number) => point.subarray(from, from + 32).toString('base64url');
  const d = bytesOf(word).toString('base64url');
  return createPrivateKey({
    key: { kty: 'EC', crv: 'P-256', x: part(1), y: part(33), d },
    format: 'jwk',
  });
}

const kids = { EdDSA: 'eddsa-1', ES256: 'es256-1' } as const;

/** A header as the product's key ring writes it. */
export function encodedHeader(alg: string, kid: string): string {
  return Buffer.from(JSON.stringify({ alg, typ: assertionUse.type, kid })).toString('base64url');
}

function pairKey(algorithm: 'EdDSA' | 'ES256', privateKey: KeyObject): AssertionKey {
  return pairAssertionKey({
    algorithm,
    privateKey,
    encodedHeader: encodedHeader(algorithm, kids[algorithm]),
  });
}

/** The secret of HS256, as text, and another one. */
export const secret: string = bytesOf('HS256').toString('base64url');
const otherSecret = bytesOf('another HS256').toString('base64url');

const pairs = { EdDSA: edKey('EdDSA'), ES256: ecKey('ES256') } as const;

/** What signs good assertions. */
export const keys: Readonly<Record<Algorithm, AssertionKey>> = {
  EdDSA: pairKey('EdDSA', pairs.EdDSA),
  ES256: pairKey('ES256', pairs.ES256),
  HS256: secretAssertionKey(Buffer.from(secret)),
};

/** What signs as well, with keys that no one knows. */
export const strangeKeys: Readonly<Record<Algorithm, AssertionKey>> = {
  EdDSA: pairKey('EdDSA', edKey('another EdDSA')),
  ES256: pairKey('ES256', ecKey('another ES256')),
  HS256: secretAssertionKey(Buffer.from(otherSecret)),
};

/** The public keys as Postern publishes them. */
export const jwks: { readonly keys: readonly object[] } = {
  keys: (['EdDSA', 'ES256'] as const).map((alg) => ({
    ...createPublicKey(pairs[alg]).export({ format: 'jwk' }),
    use: 'sig',
    alg,
    kid: kids[alg],
  })),
};

/** The public Ed25519 key in the forms that a library could take for a secret. */
export const publicKeyForms: Readonly<Record<string, Buffer>> = {
  'as PEM': Buffer.from(createPublicKey(pairs.EdDSA).export({ format: 'pem', type: 'spki' })),
  'as a JWK': Buffer.from(JSON.stringify(jwks.keys[0])),
  'as 32 bytes': createPublicKey(pairs.EdDSA).export({ format: 'der', type: 'spki' }).subarray(-32),
};
