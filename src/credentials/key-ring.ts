import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { SigningKey } from '../stores/records.ts';

/** A key ready for use, with the one encoded header of all tokens signed by it. */
export interface TokenKey {
  readonly kid: string;
  readonly algorithm: SigningKey['algorithm'];
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly encodedHeader: string;
}

/** The signing keys of the store as this process knows them; another replica may add one at any time. */
export interface KeyRing {
  /** Newest first, as of creation. */
  readonly keys: readonly TokenKey[];
  /** The key of tokens with that encoded header, looked up in the store if it isn't known yet. */
  find(encodedHeader: string): TokenKey | undefined | Promise<TokenKey | undefined>;
  /** The public part of every key, including keys added since, as far as the store is available. */
  published(): Promise<JSONWebKeySet>;
}

export interface KeyRingOptions {
  /** Newest first. */
  readonly keys: readonly SigningKey[];
  /** Loads all keys from the store, newest first; default: there will be no others. */
  readonly load?: (() => Promise<readonly SigningKey[]>) | undefined;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: (() => number) | undefined;
}

/** The type of access tokens (RFC 9068 §2.1). */
export const tokenType = 'at+jwt';
/** Minimum time between two loads, ms: a flood of made-up headers costs the store one query in that time. */
const pauseMs = 1_000;
const maxHeaderLength = 256;
const algorithms: ReadonlySet<unknown> = new Set(['ES256', 'EdDSA', 'RS256']);

/** Creates the key ring. Throws when a key can't be parsed. */
export function createKeyRing({ keys: initial, load, elapsed }: KeyRingOptions): KeyRing {
  const now = elapsed ?? (() => performance.now());
  const keys = initial.map(toTokenKey);
  let byHeader = new Map(keys.map((key) => [key.encodedHeader, key]));
  let published = jwksOf(byHeader);
  let checkedAt = Number.NEGATIVE_INFINITY;
  let lastCheck: Promise<void> = Promise.resolve();

  /** Within the pause, the result of the last load. Rejects when the store is unavailable. */
  function reload(): Promise<void> {
    if (load === undefined || now() - checkedAt < pauseMs) return lastCheck;
    checkedAt = now();
    lastCheck = load().then((found) => {
      if (found.length === byHeader.size && found.every((key) => byHeader.has(encodedHeaderOf(key)))) return;
      const known = found.map((key) => byHeader.get(encodedHeaderOf(key)) ?? toTokenKey(key));
      byHeader = new Map(known.map((key) => [key.encodedHeader, key]));
      published = jwksOf(byHeader);
    });
    return lastCheck;
  }

  return {
    keys,
    find(encodedHeader) {
      const key = byHeader.get(encodedHeader);
      if (key !== undefined || load === undefined || !mayBeOurs(encodedHeader)) return key;
      return reload().then(() => byHeader.get(encodedHeader));
    },
    async published() {
      await reload().catch(() => {});
      return published;
    },
  };
}

/** The protected header of tokens under a key. */
export function headerOf(key: Pick<SigningKey, 'algorithm' | 'kid'>) {
  return { alg: key.algorithm, typ: tokenType, kid: key.kid };
}

/** Whether a token with that header may be signed by a key added since: it is written exactly as we write ours. */
function mayBeOurs(encodedHeader: string): boolean {
  if (encodedHeader.length > maxHeaderLength) return false;
  try {
    const { alg, kid } = JSON.parse(Buffer.from(encodedHeader, 'base64url').toString());
    if (!algorithms.has(alg) || typeof kid !== 'string') return false;
    return encodedHeaderOf({ algorithm: alg, kid }) === encodedHeader;
  } catch {
    return false;
  }
}

function encodedHeaderOf(key: Pick<SigningKey, 'algorithm' | 'kid'>): string {
  return Buffer.from(JSON.stringify(headerOf(key))).toString('base64url');
}

function toTokenKey(key: SigningKey): TokenKey {
  const privateKey = createPrivateKey({ key: JSON.parse(key.privateJwk), format: 'jwk' });
  return {
    kid: key.kid,
    algorithm: key.algorithm,
    privateKey,
    publicKey: createPublicKey(privateKey),
    encodedHeader: encodedHeaderOf(key),
  };
}

function jwksOf(keys: ReadonlyMap<string, TokenKey>): JSONWebKeySet {
  // From the public key object: no private member can get in.
  const publicJwk = ({ publicKey, algorithm, kid }: TokenKey) => ({
    ...publicKey.export({ format: 'jwk' }),
    use: 'sig',
    alg: algorithm,
    kid,
  });
  return { keys: [...keys.values()].map(publicJwk) };
}
