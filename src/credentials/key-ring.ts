import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import { signerOf } from '../stores/key-schedule.ts';
import type { KeyPurpose, SigningKey } from '../stores/signing-keys.ts';
import type { KnownKeys } from './signing-keys.ts';

/** Algorithms of key pairs. */
export type PairAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** A key ready for use, with the one encoded header of all tokens signed by it. */
export interface TokenKey {
  readonly kid: string;
  readonly algorithm: PairAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly encodedHeader: string;
}

/** The key pairs of one purpose; another replica may add, replace or remove one at any time. */
export interface KeyRing {
  /** See {@link KnownKeys.catchUp}. */
  catchUp(): Promise<void>;
  /** The key of that algorithm that signs now. Throws when there is none. */
  signer(algorithm: PairAlgorithm): TokenKey;
  /** True if tokens signed by that key count, as far as is known. */
  has(kid: string): boolean;
  /** The key of tokens with that encoded header, looked up in the store if it isn't known yet. */
  find(encodedHeader: string): TokenKey | undefined | Promise<TokenKey | undefined>;
  /** The public part of every key, including keys added since, as far as the store is available. */
  published(): Promise<JSONWebKeySet>;
}

/** Use of the keys of a ring. */
export interface KeyUse {
  readonly purpose: Exclude<KeyPurpose, 'cookie'>;
  /** `typ` of the tokens they sign (RFC 8725 §3.11). */
  readonly type: string;
}

const maxHeaderLength = 256;
const algorithms: ReadonlySet<unknown> = new Set(['ES256', 'EdDSA', 'RS256']);

/** Keys made from one state of the store. */
interface Ring {
  readonly stored: readonly SigningKey[];
  readonly byHeader: ReadonlyMap<string, TokenKey>;
  readonly byKid: ReadonlyMap<string, TokenKey>;
  readonly signers: ReadonlyMap<string, TokenKey>;
  readonly published: JSONWebKeySet;
}

/** Creates the key ring of a purpose. Its functions throw when a key can't be parsed. */
export function createKeyRing(known: Pick<KnownKeys, 'keys' | 'search' | 'catchUp'>, use: KeyUse): KeyRing {
  let ring = ringOf([], use);

  function current(): Ring {
    if (ring.stored !== known.keys) ring = ringOf(known.keys, use, ring.byKid);
    return ring;
  }

  return {
    catchUp: () => known.catchUp(),
    signer(algorithm) {
      const key = current().signers.get(algorithm);
      if (key === undefined) throw new Error(`no signing key for ${algorithm}`);
      return key;
    },
    has: (kid) => current().byKid.has(kid),
    find(encodedHeader) {
      const key = current().byHeader.get(encodedHeader);
      if (key !== undefined || !mayBeOurs(encodedHeader, use)) return key;
      return known.search().then(() => current().byHeader.get(encodedHeader));
    },
    async published() {
      await known.search().catch(() => {});
      return current().published;
    },
  };
}

/** The protected header of tokens under a key. */
export function headerOf(key: { readonly algorithm: string; readonly kid: string }, type: string) {
  return { alg: key.algorithm, typ: type, kid: key.kid };
}

function ringOf(
  stored: readonly SigningKey[],
  { purpose, type }: KeyUse,
  earlier: ReadonlyMap<string, TokenKey> = new Map(),
): Ring {
  const ours = stored.filter((key) => key.purpose === purpose);
  const keys = ours.map((key) => earlier.get(key.kid) ?? toTokenKey(key, type));
  const byKid = new Map(keys.map((key) => [key.kid, key]));
  const signers = new Map<string, TokenKey>();
  for (const algorithm of new Set(ours.map((key) => key.algorithm))) {
    const signer = signerOf(ours.filter((key) => key.algorithm === algorithm));
    if (signer !== undefined) signers.set(algorithm, byKid.get(signer.kid)!);
  }
  return {
    stored,
    byHeader: new Map(keys.map((key) => [key.encodedHeader, key])),
    byKid,
    signers,
    published: jwksOf(keys),
  };
}

/** True if a key added since may have signed a token with that header: it is spelled exactly as we spell ours. */
function mayBeOurs(encodedHeader: string, { type }: KeyUse): boolean {
  if (encodedHeader.length > maxHeaderLength) return false;
  try {
    const { alg, kid } = JSON.parse(Buffer.from(encodedHeader, 'base64url').toString());
    if (!algorithms.has(alg) || typeof kid !== 'string') return false;
    return encodedHeaderOf({ algorithm: alg, kid }, type) === encodedHeader;
  } catch {
    return false;
  }
}

function encodedHeaderOf(key: { readonly algorithm: string; readonly kid: string }, type: string): string {
  return Buffer.from(JSON.stringify(headerOf(key, type))).toString('base64url');
}

function toTokenKey({ kid, algorithm, privateJwk }: SigningKey, type: string): TokenKey {
  const privateKey = createPrivateKey({ key: JSON.parse(privateJwk), format: 'jwk' });
  return {
    kid,
    algorithm: algorithm as PairAlgorithm,
    privateKey,
    publicKey: createPublicKey(privateKey),
    encodedHeader: encodedHeaderOf({ kid, algorithm }, type),
  };
}

function jwksOf(keys: readonly TokenKey[]): JSONWebKeySet {
  // From the public key object: no private member can get in.
  const publicJwk = ({ publicKey, algorithm, kid }: TokenKey) => ({
    ...publicKey.export({ format: 'jwk' }),
    use: 'sig',
    alg: algorithm,
    kid,
  });
  return { keys: keys.map(publicJwk) };
}
