import { createHmac, createSecretKey, hash, randomFillSync, sign as signWith } from 'node:crypto';
import type { KeyRing, KeyUse, PairAlgorithm, TokenKey } from './key-ring.ts';
import type { Principal } from './principal.ts';

/** Purpose of the keys that sign assertions, and the `typ` of assertions, which no other token has (RFC 8725 §3.11). */
export const assertionUse: KeyUse = { purpose: 'assertion', type: 'postern-assertion+jwt' };

/** A key that signs assertions, with the encoded header they share. */
export interface AssertionKey {
  readonly encodedHeader: string;
  /** Signs ASCII text; the signature is in base64url. */
  readonly sign: (text: string) => string;
}

/**
 * Signs the assertion (a JWT, RFC 7519) of one request, when the request is sent. `target` is its path and query as sent;
 * `principal` is null for a request without a credential.
 */
export type Assert = (
  method: string,
  target: string,
  requestId: string,
  principal: Principal | null,
) => string;

/** Creates the signer of assertions for one audience. A caller's claims are serialised once for each principal. */
export function createAssert(options: {
  readonly issuer: string;
  readonly audience: string;
  readonly tenant: string;
  readonly lifetimeMs: number;
  /** Returns the current signing key; keys rotate. */
  readonly key: () => AssertionKey;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Creates a `jti`; default 128 random bits. */
  readonly newId?: () => string;
}): Assert {
  const { issuer, audience, tenant, lifetimeMs, key, now, newId = randomId } = options;
  const constant = JSON.stringify({ iss: issuer, aud: audience, tenant }).slice(0, -1);
  const known = new WeakMap<Principal, string>();

  /** The claims that all requests of the caller share, as the beginning of a JSON object. */
  function beginningFor(principal: Principal): string {
    let beginning = known.get(principal);
    if (beginning === undefined) {
      beginning = `${constant},${JSON.stringify(callerClaims(principal.identity.fields)).slice(1, -1)}`;
      known.set(principal, beginning);
    }
    return beginning;
  }

  return (method, target, requestId, principal) => {
    const instant = now();
    const beginning = principal === null ? constant : beginningFor(principal);
    // Nothing here needs escaping: ids, a method and base64url have neither quotes nor backslashes.
    const claims = `${beginning},"iat":${Math.floor(instant / 1000)},"exp":${Math.floor((instant + lifetimeMs) / 1000)},"jti":"${newId()}","request_id":"${requestId}","htm":"${method}","htt":"${targetHash(target)}"}`;
    const { encodedHeader, sign } = key();
    const signed = `${encodedHeader}.${Buffer.from(claims).toString('base64url')}`;
    return `${signed}.${sign(signed)}`;
  };
}

const idBytes = 16;
const pool = Buffer.alloc(idBytes * 256);
let offset = pool.length;

/** Creates an id of 128 random bits in base64url, from a pool: a system call for each would cost more than everything else. */
function randomId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const id = pool.toString('base64url', offset, offset + idBytes);
  offset += idBytes;
  return id;
}

/** The claim `htt`: SHA-256 of path and query. A `?` with no query is left out, as many servers can't tell the difference. */
function targetHash(target: string): string {
  const end = target.length - 1;
  return hash('sha256', target.indexOf('?') === end ? target.slice(0, end) : target, 'base64url');
}

/** The claim for each identity header other than `X-Auth-Tenant`, which is in every assertion. */
const claimOf: Readonly<Record<string, string>> = {
  'X-Auth-Subject': 'sub',
  'X-Auth-Username': 'username',
  'X-Auth-Method': 'method',
  'X-Auth-Scopes': 'scope',
  'X-Auth-Session-Id': 'sid',
  'X-Auth-Key-Id': 'key_id',
};

/** The caller's claims: values of identity headers, byte for byte. Empty values are left out, except that no scopes are `""`. */
function callerClaims(headers: readonly string[]): Readonly<Record<string, string>> {
  const claims: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const claim = claimOf[headers[i]!];
    const value = headers[i + 1]!;
    if (claim !== undefined && (value !== '' || claim === 'scope')) claims[claim] = value;
  }
  return claims;
}

/** A key for HMAC-SHA256 with a secret that the upstream shares (RFC 7518 §3.2). */
export function secretAssertionKey(secret: Uint8Array): AssertionKey {
  const key = createSecretKey(secret);
  const header = JSON.stringify({ alg: 'HS256', typ: assertionUse.type });
  return {
    encodedHeader: Buffer.from(header).toString('base64url'),
    sign: (text) => createHmac('sha256', key).update(text, 'latin1').digest('base64url'),
  };
}

/** A key that signs with a key pair, whose public part is published (RFC 8037 §3.1, RFC 7518 §3.4). */
export function pairAssertionKey({
  algorithm,
  privateKey,
  encodedHeader,
}: Pick<TokenKey, 'algorithm' | 'privateKey' | 'encodedHeader'>): AssertionKey {
  // Without `dsaEncoding`, an ES256 signature would be DER (RFC 7518 §3.4). With it, Ed25519 would take 13 µs more than its 34.
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  const signBytes =
    algorithm === 'EdDSA'
      ? (bytes: Buffer) => signWith(null, bytes, privateKey)
      : (bytes: Buffer) => signWith('sha256', bytes, key);
  return {
    encodedHeader,
    sign: (text) => signBytes(Buffer.from(text, 'latin1')).toString('base64url'),
  };
}

/**
 * Creates a function that returns the current signing key of a ring. Throws, when created, if there is none; later the last key
 * stays in use: an assertion is signed while a connection is being written to, where no error can be reported.
 */
export function createPairKeys(ring: Pick<KeyRing, 'signer'>, algorithm: PairAlgorithm): () => AssertionKey {
  let signer = ring.signer(algorithm);
  let key = pairAssertionKey(signer);
  return () => {
    try {
      const now = ring.signer(algorithm);
      if (now !== signer) [signer, key] = [now, pairAssertionKey(now)];
    } catch {
      // The keys of the store are gone, or can't be read.
    }
    return key;
  };
}
