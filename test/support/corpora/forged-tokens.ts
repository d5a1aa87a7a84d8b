import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { generateSigningKey } from '../../../src/credentials/signing-keys.ts';
import type { NewSigningKey } from '../../../src/stores/signing-keys.ts';

/** The issuer of the claims below. */
export const issuer = 'https://acme.example.com';
/** The clock of these tests, epoch ms: not on a full second. */
export const start = Date.parse('2026-11-21T09:30:00.250Z');
/** The same in whole seconds. */
export const startSeconds = Math.floor(start / 1000);

/** The gateway's keys, and one it doesn't know. */
export const [es256, eddsa, rs256, foreign] = await Promise.all([
  generateSigningKey({ purpose: 'access-token', algorithm: 'ES256' }),
  generateSigningKey({ purpose: 'access-token', algorithm: 'EdDSA' }),
  generateSigningKey({ purpose: 'access-token', algorithm: 'RS256' }),
  generateSigningKey({ purpose: 'access-token', algorithm: 'ES256' }),
]);

/** The header and claims of a good access token of these keys. */
export const header = { alg: 'ES256', typ: 'at+jwt', kid: es256.kid };
/** See {@link header}. */
export const claims = {
  iss: issuer,
  aud: issuer,
  sub: 'user-1',
  sid: 'session-1',
  scope: 'a:read b',
  iat: startSeconds,
  exp: startSeconds + 600,
  jti: 'token-1',
  client_id: 'postern',
};

/** Text or bytes in base64url. */
export function encode(text: string | Buffer): string {
  return Buffer.from(text).toString('base64url');
}

/** The private key of a record. */
export function privateKeyOf(key: NewSigningKey): KeyObject {
  return createPrivateKey({ key: JSON.parse(key.privateJwk), format: 'jwk' });
}

/** The public key of a record. */
export function publicKeyOf(key: NewSigningKey): KeyObject {
  return createPublicKey(privateKeyOf(key));
}

/** Signs two segments just as they stand, as somebody could who holds the key. */
export function signSegments(first: string, second: string, key: NewSigningKey = es256): string {
  const input = `${first}.${second}`;
  const digest = key.algorithm === 'EdDSA' ? null : 'sha256';
  const options = { key: privateKeyOf(key), dsaEncoding: 'ieee-p1363' as const };
  return `${input}.${encode(sign(digest, Buffer.from(input), options))}`;
}

/** Signs any header and payload; a text stands for itself, anything else for its JSON. */
export function forge(first: unknown, second: unknown, key: NewSigningKey = es256): string {
  const part = (value: unknown) => encode(typeof value === 'string' ? value : JSON.stringify(value));
  return signSegments(part(first), part(second), key);
}

/** A segment that decodes to the same bytes: the bits that its last character has to spare are set. */
export function withSpareBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = segment.slice(0, -1) + alphabet[alphabet.indexOf(segment.at(-1) ?? '') + 1];
  if (
    segment.length % 4 === 0 ||
    !Buffer.from(other, 'base64url').equals(Buffer.from(segment, 'base64url'))
  ) {
    throw new Error('the segment has no bits to spare');
  }
  return other;
}
