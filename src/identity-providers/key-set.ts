import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { CachedDocument } from './cached-document.ts';
import type { ProviderMetadata } from './discovery.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';

/** A public key for verifying the provider's signatures. */
export interface VerificationKey {
  readonly kid: string | undefined;
  /** The signature algorithms that the key may be used with. */
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

const algorithmsOf: Readonly<Record<string, readonly string[]>> = {
  RSA: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  'EC P-256': ['ES256'],
  'EC P-384': ['ES384'],
  'EC P-521': ['ES512'],
  'OKP Ed25519': ['EdDSA'],
};
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const minModulusBits = 2048;
const maxModulusBits = 16_384;
/** Maximum number of keys, more than any provider has; further ones are ignored. */
const maxKeys = 100;

/**
 * The usable keys of a JWKS document (RFC 7517): without keys that are symmetric, of an unknown type, private, not for
 * signatures, weak or malformed, and without keys that share a `kid` but differ.
 */
export function parseKeySet(document: JsonObject): readonly VerificationKey[] {
  const listed: unknown = document.keys;
  if (!Array.isArray(listed)) return [];
  const keys = listed
    .slice(0, maxKeys)
    .map(parseKey)
    .filter((key) => key !== undefined);
  return keys.filter((key, index) => {
    const namesakes = keys.filter((other) => other.kid === key.kid);
    if (key.kid === undefined || namesakes.length === 1) return true;
    return keys.indexOf(namesakes[0]!) === index && namesakes.every((other) => isSame(key, other));
  });
}

/** The only key that fits the algorithm and, if given, the `kid` of an assertion's header; undefined if none or several do. */
export function chooseKey(
  keys: readonly VerificationKey[],
  header: { readonly alg: string; readonly kid?: string },
): VerificationKey | undefined {
  const fitting = keys.filter(
    ({ kid, algorithms }) =>
      algorithms.includes(header.alg) && (header.kid === undefined || kid === header.kid),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function parseKey(jwk: unknown): VerificationKey | undefined {
  if (!isJsonObject(jwk) || privateMembers.some((name) => Object.hasOwn(jwk, name))) return undefined;
  const { kty, crv, kid, use, key_ops, alg } = jwk;
  if (use !== undefined && use !== 'sig') return undefined;
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes('verify'))) return undefined;
  if (kid !== undefined && typeof kid !== 'string') return undefined;
  const kind = kty === 'RSA' ? 'RSA' : `${kty} ${crv}`;
  const possible = Object.hasOwn(algorithmsOf, kind) ? algorithmsOf[kind]! : [];
  const algorithms = alg === undefined ? possible : possible.filter((name) => isNameOf(name, alg));
  if (algorithms.length === 0) return undefined;
  const key = importPublicKey(jwk);
  return key === undefined || isWeak(key) ? undefined : { kid, algorithms, key };
}

/** True if a JWK's `alg` names the algorithm; RFC 9864 renamed EdDSA over Ed25519 to `Ed25519`. */
function isNameOf(algorithm: string, alg: unknown): boolean {
  return alg === algorithm || (algorithm === 'EdDSA' && alg === 'Ed25519');
}

function importPublicKey({ kty, crv, n, e, x, y }: JsonObject): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty, crv, n, e, x, y } as JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** True for a key too short to be safe, too long to verify in time, or with an exponent for which anyone can sign. */
function isWeak(key: KeyObject): boolean {
  if (key.asymmetricKeyType !== 'rsa') return false;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  return modulusLength < minModulusBits || modulusLength > maxModulusBits || publicExponent < 3n;
}

function isSame(one: VerificationKey, other: VerificationKey): boolean {
  return one.key.equals(other.key) && one.algorithms.join() === other.algorithms.join();
}

/** The keys of one provider. */
export interface ProviderKeys {
  /**
   * Finds the key for a header. If no known key fits, the keys are fetched again: at once the first time, then at most once in 30
   * s over all callers. Rejects with {@link Refusal} `invalid_assertion` if the provider has no such key, `provider_unavailable`
   * if its keys can't be fetched.
   */
  find(header: { readonly alg: string; readonly kid?: string }): Promise<KeyObject>;
}

/** Age up to which keys are used, ms: older ones may have been withdrawn, and are fetched again first. */
const longestUseMs = 10 * 60_000;

/** Creates the keys of one provider, whose key set (JWKS) is kept for ten minutes. */
export function createProviderKeys(options: {
  readonly discovery: Pick<CachedDocument<ProviderMetadata>, 'get'>;
  readonly network: Pick<ProviderNetwork, 'getObject'>;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}): ProviderKeys {
  const { discovery, network, now, onFailure } = options;

  async function load() {
    const { jwks_uri } = await discovery.get();
    const keys = parseKeySet(await network.getObject(jwks_uri));
    // A set without keys is a fault, not a rotation: the last usable set is kept.
    if (keys.length === 0) throw new ProviderUnavailable('key set has no usable key');
    return keys;
  }

  const keySet = new CachedDocument({
    load,
    now,
    onFailure,
    freshMs: longestUseMs,
    usableMs: longestUseMs,
  });

  return {
    async find(header) {
      const known = await keySet.get();
      const found = chooseKey(known, header) ?? chooseKey(await keySet.renew(known), header);
      if (found === undefined) throw new Refusal('invalid_assertion', { cause: 'no such key' });
      return found.key;
    },
  };
}
