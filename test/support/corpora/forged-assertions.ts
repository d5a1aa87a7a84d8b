import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { identityProviders } from '../../../src/config/sections/identity-providers.ts';
import type { ProviderSettings } from '../../../src/identity-providers/provider-urls.ts';

/** The issuer of the assertions below. */
export const issuer = 'https://login.example.com';
/** The clock of these tests, epoch ms: not on a full second. */
export const start = Date.parse('2026-11-21T09:30:00.250Z');
/** The same in whole seconds. */
export const startSeconds = Math.floor(start / 1000);

/** A provider's key pair under its `kid`. */
export interface ProviderKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** The provider's keys, and one it does not publish, which an attacker could have made. */
export const rs256: ProviderKey = {
  kid: 'r1',
  alg: 'RS256',
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
export const es256: ProviderKey = {
  kid: 'e1',
  alg: 'ES256',
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};
export const eddsa: ProviderKey = { kid: 'o1', alg: 'EdDSA', ...generateKeyPairSync('ed25519') };
export const foreign: ProviderKey = {
  kid: 'e1',
  alg: 'ES256',
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};

/** The header and claims of a good assertion. */
export const header = { alg: 'ES256', typ: 'JWT', kid: 'e1' };
/** See {@link header}. */
export const claims = {
  iss: issuer,
  aud: 'postern',
  sub: 'alice-1',
  iat: startSeconds,
  exp: startSeconds + 300,
};

/** A provider as configured, with the defaults of the schema. */
export function settingsOf(changes: object = {}): ProviderSettings {
  const written = {
    issuer,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
    ...changes,
  };
  return { ...identityProviders.parse({ idp: written }).idp!, redirect_uri: written.redirect_uri };
}

/** A public key as its JWKS lists it. */
export function jwkOf(key: ProviderKey, changes: object = {}): Record<string, unknown> {
  return { ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, use: 'sig', alg: key.alg, ...changes };
}

/** Text or bytes in base64url. */
export function encode(text: string | Buffer): string {
  return Buffer.from(text).toString('base64url');
}

/** Signs two segments just as they stand, as somebody could who holds the key. */
export function signSegments(first: string, second: string, key: ProviderKey = es256): string {
  const input = `${first}.${second}`;
  const digest = key.alg === 'EdDSA' ? null : 'sha256';
  const options = { key: key.privateKey, dsaEncoding: 'ieee-p1363' as const };
  return `${input}.${encode(sign(digest, Buffer.from(input), options))}`;
}

/** Signs any header and payload; a text stands for itself, anything else for its JSON. */
export function forge(first: unknown, second: unknown, key: ProviderKey = es256): string {
  const part = (value: unknown) => encode(typeof value === 'string' ? value : JSON.stringify(value));
  return signSegments(part(first), part(second), key);
}
