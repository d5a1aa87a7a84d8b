import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { SigningKey } from '../stores/records.ts';

/** A key ready for use, with the one encoded header that tokens under it have. */
export interface TokenKey {
  readonly kid: string;
  readonly algorithm: SigningKey['algorithm'];
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly encodedHeader: string;
}

/** The signing keys of the store as this process knows them; another replica may make one at any time. */
export interface KeyRing {
  /** Newest first, as of the start. */
  readonly keys: readonly TokenKey[];
  /** The key of tokens with that encoded header, looked for in the store when it is not known yet. */
  find(encodedHeader: string): TokenKey | undefined | Promise<TokenKey | undefined>;
  /** The public part of every key, those that were made meanwhile included, as far as the store can be had. */
  published(): Promise<JSONWebKeySet>;
}

export interface KeyRingOptions {
  /** Newest first. */
  readonly keys: readonly SigningKey[];
  /** Asks the store for all keys, newest first; left out: there will be no others. */
  readonly load?: (() => Promise<readonly SigningKey[]>) | undefined;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: (() => number) | undefined;
}

/** The type of access tokens (RFC 9068 §2.1). */
export const tokenType = 'at+jwt';
/** Least time between two looks, ms: whoever makes up headers costs the store no more than one question in it. */
const pauseMs = 1_000;
const maxHeaderLength = 256;
const algorithms: ReadonlySet<unknown> = new Set(['ES256', 'EdDSA', 'RS256']);

/** Creates it. Throws when a key can't be read. */
export function createKeyRing({ keys: initial, load, elapsed }: KeyRingOptions): KeyRing {
  const now = elapsed ?? (() => performance.now());
  const keys = initial.map(toTokenKey);
  let byHeader = new Map(keys.map((key) => [key.encodedHeader, key]));
  let published = jwksOf(byHeader);
  let checkedAt = Number.NEGATIVE_INFINITY;
  let lastCheck: Promise<void> = Promise.resolve();

  /** Within the pause it is what the last look came to. Rejects when the store can't be had. */
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

/** Whether a token with that header may be under a key that was made since: it is written exactly as we write ours. */
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
  // From the public key object: a private member can't get in.
  const publicJwk = ({ publicKey, algorithm, kid }: TokenKey) => ({
    ...publicKey.export({ format: 'jwk' }),
    use: 'sig',
    alg: algorithm,
    kid,
  });
  return { keys: [...keys.values()].map(publicJwk) };
}
