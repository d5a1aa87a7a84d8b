import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { signerOf } from '../stores/key-schedule.ts';
import type { KeyPurpose, SigningKey } from '../stores/signing-keys.ts';
import type { KnownKeys } from './signing-keys.ts';

/** Algorithms of key pairs. */
export type PairAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** A key pair ready for use, with the encoded header that all tokens signed by it share. */
export interface TokenKey {
  readonly kid: string;
  readonly algorithm: PairAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly encodedHeader: string;
}

/** The use of the keys of a ring. */
export interface KeyUse {
  readonly purpose: Exclude<KeyPurpose, 'cookie'>;
  /** `typ` of the tokens they sign (RFC 8725 §3.11). */
  readonly type: string;
}

const maxHeaderLength = 256;
const algorithms: readonly unknown[] = ['ES256', 'EdDSA', 'RS256'] satisfies readonly PairAlgorithm[];

/**
 * The key pairs of one purpose; another replica may add, replace or remove one at any time. Its methods throw when a key
 * can't be parsed.
 */
export class KeyRing {
  readonly #known: Pick<KnownKeys, 'keys' | 'search' | 'catchUp'>;
  readonly #use: KeyUse;
  #stored: readonly SigningKey[] = [];
  #byKid: ReadonlyMap<string, TokenKey> = new Map();
  #byHeader: ReadonlyMap<string, TokenKey> = new Map();
  #signers: ReadonlyMap<string, TokenKey> = new Map();

  constructor(known: Pick<KnownKeys, 'keys' | 'search' | 'catchUp'>, use: KeyUse) {
    this.#known = known;
    this.#use = use;
  }

  /** See {@link KnownKeys.catchUp}. */
  catchUp(): Promise<void> {
    return this.#known.catchUp();
  }

  /** The key of that algorithm that signs now. Throws when there is none. */
  signer(algorithm: PairAlgorithm): TokenKey {
    this.#update();
    const key = this.#signers.get(algorithm);
    if (key === undefined) throw new Error(`no signing key for ${algorithm}`);
    return key;
  }

  /** True if tokens signed with the key `kid` are still accepted, as far as this process knows. */
  has(kid: string): boolean {
    this.#update();
    return this.#byKid.has(kid);
  }

  /** Finds the key of tokens with that encoded header, in the store if it isn't known yet; undefined if there is none. */
  find(encodedHeader: string): TokenKey | undefined | Promise<TokenKey | undefined> {
    this.#update();
    const key = this.#byHeader.get(encodedHeader);
    if (key !== undefined || !mayBeOurs(encodedHeader, this.#use)) return key;
    return this.#known.search().then(() => {
      this.#update();
      return this.#byHeader.get(encodedHeader);
    });
  }

  /** The public part of every key, including keys that other replicas have just added, if the store is available. */
  async published(): Promise<JSONWebKeySet> {
    await this.#known.search().catch(() => {});
    this.#update();
    return { keys: [...this.#byKid.values()].map(publicJwk) };
  }

  #update(): void {
    const stored = this.#known.keys;
    if (stored === this.#stored) return;
    const ours = stored.filter(({ purpose }) => purpose === this.#use.purpose);
    const keys = ours.map((key) => this.#byKid.get(key.kid) ?? toTokenKey(key, this.#use.type));
    const byKid = new Map(keys.map((key) => [key.kid, key]));
    const signers = new Map<string, TokenKey>();
    for (const algorithm of algorithms) {
      const signer = signerOf(ours.filter((key) => key.algorithm === algorithm));
      if (signer !== undefined) signers.set(signer.algorithm, byKid.get(signer.kid)!);
    }
    this.#stored = stored;
    this.#byKid = byKid;
    this.#byHeader = new Map(keys.map((key) => [key.encodedHeader, key]));
    this.#signers = signers;
  }
}

/** The protected header of tokens signed with a key. */
export function headerOf(key: { readonly algorithm: string; readonly kid: string }, type: string) {
  return { alg: key.algorithm, typ: type, kid: key.kid };
}

/** True if that header may name a key that another replica has added: it is spelled exactly as we spell ours. */
function mayBeOurs(encodedHeader: string, { type }: KeyUse): boolean {
  if (encodedHeader.length > maxHeaderLength) return false;
  try {
    const { alg, kid } = JSON.parse(Buffer.from(encodedHeader, 'base64url').toString());
    if (!algorithms.includes(alg) || typeof kid !== 'string') return false;
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

function publicJwk({ publicKey, algorithm, kid }: TokenKey): JWK {
  // From the public key object: no private member can get in.
  return { ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: algorithm, kid };
}
