import { errors, type JSONWebKeySet, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { uuidv7 } from 'uuidv7';
import { Refusal } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import { tokenSkewMs } from '../stores/key-schedule.ts';
import { isApiKey } from './api-key.ts';
import { headerOf, type KeyRing, type KeyUse, type PairAlgorithm, type TokenKey } from './key-ring.ts';
import { parseScope } from './scopes.ts';

/** Claims of a verified access token. Instants are epoch milliseconds. */
export interface AccessClaims {
  readonly userId: string;
  readonly sessionId: string;
  /** Scopes that the token is limited to, sorted. */
  readonly scopes: readonly string[];
  readonly issued: number;
  readonly expires: number;
  readonly tokenId: string;
  /** The id of the key that signed the token. */
  readonly kid: string;
}

/** Claims of a new access token. */
export interface AccessGrant {
  readonly userId: string;
  readonly sessionId: string;
  readonly scopes: readonly string[];
  /** The session's end, epoch ms: the token never outlives it. */
  readonly sessionExpires: number;
}

/** Signs and verifies access tokens (JWT, RFC 9068). */
export interface AccessTokens {
  /** Signs with the current key of the configured algorithm. */
  sign(grant: AccessGrant): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;
  /**
   * Accepts only tokens that `sign` wrote, with any of the keys; rejects with {@link Refusal} `invalid_token` otherwise, or
   * `store_unavailable` if the token's key may be in a store that is unavailable.
   */
  verify(token: string): Promise<AccessClaims>;
  /** True if tokens signed with the key `kid` are still accepted, as far as this process knows. */
  accepts(kid: string): boolean;
  /** Public parts of all keys (RFC 7517), including those of other replicas. */
  jwks(): Promise<JSONWebKeySet>;
}

/** Purpose of the keys that sign access tokens, and the `typ` of the tokens (RFC 9068 §2.1). */
export const accessTokenUse: KeyUse = { purpose: 'access-token', type: 'at+jwt' };

const tokenType = accessTokenUse.type;
const clientId = 'postern';
/** In characters; the default maximum of a whole request head. */
const maxTokenLength = 16 * 1024;

/** Creates the signer and verifier of one issuer; throws when no key has `algorithm`, or a key can't be parsed. */
export function createAccessTokens(options: {
  /** `iss` and `aud`: the base URL without trailing slash. */
  readonly issuer: string;
  /** The keys of {@link accessTokenUse}; all verify and are published. */
  readonly keys: KeyRing;
  readonly algorithm: PairAlgorithm;
  readonly lifetimeMs: number;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Creates a `jti`; default UUIDv7. */
  readonly newId?: () => string;
}): AccessTokens {
  const { issuer, keys, algorithm, lifetimeMs, now, newId = uuidv7 } = options;
  keys.signer(algorithm);

  async function sign(grant: AccessGrant) {
    // A token signed with a key that was just revoked would be refused.
    await keys.catchUp();
    const signingKey = keys.signer(algorithm);
    const instant = now();
    const iat = Math.floor(instant / 1000);
    const exp = Math.floor(Math.min(instant + lifetimeMs, grant.sessionExpires) / 1000);
    const token = await new SignJWT({
      iss: issuer,
      aud: issuer,
      sub: grant.userId,
      sid: grant.sessionId,
      scope: grant.scopes.join(' '),
      iat,
      exp,
      jti: newId(),
      client_id: clientId,
    })
      .setProtectedHeader(headerOf(signingKey, tokenType))
      .sign(signingKey.privateKey);
    if (token.length > maxTokenLength) throw new RangeError('the access token is too long: too many scopes');
    return { token, expiresInSeconds: Math.max(0, exp - iat) };
  }

  async function verify(token: string): Promise<AccessClaims> {
    if (token.length > maxTokenLength) throw refusal('length');
    const [header = '', payload, signature = ''] = token.split('.');
    // The header is compared, never interpreted: no algorithm, key or extension is taken from a token.
    const key = await keys.find(header);
    if (key === undefined) throw refusal(isApiKey(token) ? 'api key' : 'header');
    if (!isCanonicalBase64url(signature)) throw refusal('signature encoding');
    const claims = await verifySigned(token, key, issuer, now());
    // Serialised again it must be the same text: no second encoding, no duplicate member (RFC 8725 §2.4, RFC 7519 §4).
    if (Buffer.from(JSON.stringify(claims)).toString('base64url') !== payload)
      throw refusal('payload encoding');
    return readClaims(claims, key.kid, issuer, now());
  }

  return { sign, verify, accepts: (kid) => keys.has(kid), jwks: () => keys.published() };
}

async function verifySigned(
  token: string,
  key: TokenKey,
  issuer: string,
  instant: number,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: [key.algorithm],
      typ: tokenType,
      issuer,
      audience: issuer,
      clockTolerance: 0,
      currentDate: new Date(instant),
    });
    return payload;
  } catch (error) {
    // The code only: the error carries the claims.
    if (error instanceof errors.JOSEError) throw refusal(error.code);
    throw error;
  }
}

/**
 * Checks what jose doesn't: that the other claims are present with the right types, that the audience isn't a list, and that
 * `iat` isn't in the future. `exp` has no leeway.
 */
function readClaims(claims: JWTPayload, kid: string, issuer: string, instant: number): AccessClaims {
  const { aud, sub, sid, scope, iat, exp, jti, client_id } = claims;
  if (aud !== issuer || client_id !== clientId) throw refusal('aud or client_id');
  if (!isText(sub) || !isText(sid) || !isText(jti)) throw refusal('sub, sid or jti');
  const scopes = typeof scope === 'string' ? parseScope(scope) : undefined;
  if (scopes === undefined) throw refusal('scope');
  if (!isInstant(iat) || !isInstant(exp)) throw refusal('iat or exp');
  const issued = iat * 1000;
  if (isIssuedLater(issued, instant)) throw refusal('iat');
  return { userId: sub, sessionId: sid, scopes, issued, expires: exp * 1000, tokenId: jti, kid };
}

/** True if `issued` is further in the future than the clocks of gateways may differ; both in epoch ms. */
export function isIssuedLater(issued: number, instant: number): boolean {
  return issued > instant + tokenSkewMs;
}

const reasonsByCause: Readonly<Record<string, Reason>> = {
  header: 'access token signed by an unknown key',
  'api key': 'api key as a bearer token',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'access token signature',
  ERR_JWT_EXPIRED: 'access token expired',
  iat: 'access token issued in the future',
};

function refusal(cause: string): Refusal {
  return new Refusal('invalid_token', { cause, reason: reasonsByCause[cause] ?? 'access token malformed' });
}

function isCanonicalBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** True if a value is a whole number of seconds since the epoch. */
function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
