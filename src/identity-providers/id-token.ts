import { createHash } from 'node:crypto';
import { compactVerify, errors } from 'jose';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { hasValue } from './claims.ts';
import { type JsonObject, parseJsonObject } from './json-object.ts';
import type { ProviderKeys } from './key-set.ts';

/** An assertion (ID token) that is valid now: signed by its provider, for us. */
export interface VerifiedAssertion {
  readonly claims: JsonObject;
  readonly subject: string;
  readonly nonce: string | undefined;
  /** The id of the session at the provider; undefined unless it is a text of 1 to 255 characters. */
  readonly sid: string | undefined;
  /** Identifies the assertion, whatever the encoding of its signature. */
  readonly replayId: string;
  /** Instant at which the assertion has expired on every clock within the leeway, epoch ms. */
  readonly acceptedUntil: number;
}

/** Rules for validating an assertion. */
export interface AssertionRules {
  readonly settings: Pick<
    IdentityProviderConfig,
    'issuer' | 'client_id' | 'algorithms' | 'leeway' | 'require' | 'parameters'
  >;
  readonly keys: ProviderKeys;
  readonly now: () => number;
}

/** Maximum length, that of a request target with a token; the groups of a large directory make a token 16 KiB long. */
const maxTokenLength = 64 * 1024;
/** The last second that a Date can represent. */
const maxSeconds = 8_640_000_000_000;
/** Maximum length of a subject or session id of a provider, in UTF-16 units. */
export const maxSubjectLength = 255;

/**
 * Verifies an ID token (OpenID Connect Core §3.1.3.7, RFC 8725): shape, header, claims, signature, then the claims that the
 * configuration requires. The caller checks that the nonce belongs to a start, and that the token is used only once. Rejects with
 * {@link Refusal} `invalid_assertion`; `user_not_provisioned` when the assertion is valid but lacks a required claim;
 * `provider_unavailable` when no keys can be fetched.
 */
export async function verifyAssertion(assertion: string, rules: AssertionRules): Promise<VerifiedAssertion> {
  const { settings, keys, now } = rules;
  const { named, payload, signingInput } = readToken(assertion, settings.algorithms, 'JWT');
  // Cheap checks come first: another provider's assertion, or a token of ours, must not cause a fetch of keys.
  requireKind(payload);
  requireParties(payload, settings);
  const expires = requireTimes(payload, settings, now());
  const subject = requireSubject(payload);
  const nonce = optionalText(payload, 'nonce');
  const replayId = replayIdOf(payload, signingInput, settings.issuer);
  await requireSignature(assertion, named, keys);
  requireClaims(payload, settings.require);
  return {
    claims: payload,
    subject,
    nonce,
    sid: sidIn(payload),
    replayId,
    acceptedUntil: expires + settings.leeway,
  };
}

/**
 * Reads a token, verifying nothing but its form: a compact JWS (RFC 7515 §7.1) of three segments in canonical base64url, the
 * first two of them JSON objects without duplicate members, whose `typ` is `kind` or absent. Key material in the header is
 * ignored: jwk, jku, x5c and x5u are the sender's claims.
 */
export function readToken(text: string, algorithms: readonly string[], kind: 'JWT' | 'LOGOUT+JWT') {
  if (text.length > maxTokenLength) throw refusal('shape');
  const segments = text.split('.').map(decodeCanonical);
  const [header, payload] = segments.slice(0, 2).map((bytes) => bytes && parseJsonObject(bytes));
  if (segments.length !== 3 || header === undefined || payload === undefined || segments[2] === undefined)
    throw refusal('shape');
  const { alg, kid, typ, crit, cty } = header;
  if (typeof alg !== 'string' || !algorithms.includes(alg)) throw refusal('alg');
  if (kid !== undefined && typeof kid !== 'string') throw refusal('kid');
  // Not at+jwt or another kind of token in its place (RFC 8725 §3.11).
  if (typ !== undefined && !(typeof typ === 'string' && typ.toUpperCase() === kind)) throw refusal('typ');
  if (crit !== undefined || cty !== undefined) throw refusal('crit or cty');
  return { named: { alg, kid }, payload, signingInput: text.slice(0, text.lastIndexOf('.')) };
}

/** Decodes base64url; undefined if empty or not canonical: padding, non-zero spare bits, other characters. */
function decodeCanonical(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return part !== '' && bytes.toString('base64url') === part ? bytes : undefined;
}

/**
 * Refuses other tokens of the same issuer for the same client, which may lack a `typ` header: logout tokens
 * (Back-Channel Logout §2.4) have `events`, Keycloak's access and refresh tokens have a `typ` claim.
 */
function requireKind({ events, typ }: JsonObject): void {
  if (events !== undefined) throw refusal('events');
  if (typ !== undefined && typ !== 'ID' && typ !== 'JWT') throw refusal('typ claim');
}

/** Checks `iss`, `aud` and `azp`. */
export function requireParties(
  { iss, aud, azp }: JsonObject,
  { issuer, client_id }: Pick<IdentityProviderConfig, 'issuer' | 'client_id'>,
): void {
  if (iss !== issuer) throw refusal('iss');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(client_id) || audiences.some((audience) => typeof audience !== 'string'))
    throw refusal('aud');
  // With several audiences, another one may have requested the token (Core §3.1.3.7, 4 and 5).
  if (azp === undefined ? audiences.length > 1 : azp !== client_id) throw refusal('azp');
}

/** Checks `exp`, `iat`, `nbf` and, if `max_age` was requested, `auth_time`; returns the expiry, epoch ms. */
export function requireTimes(
  { exp, iat, nbf, auth_time }: JsonObject,
  { leeway, parameters }: Pick<IdentityProviderConfig, 'leeway' | 'parameters'>,
  now: number,
): number {
  if (!isSeconds(exp) || !isSeconds(iat) || exp <= iat) throw refusal('exp or iat');
  if (now >= exp * 1000 + leeway) throw refusal('expired');
  if (iat * 1000 > now + leeway) throw refusal('issued in the future');
  if (nbf !== undefined && !(isSeconds(nbf) && nbf * 1000 <= now + leeway)) throw refusal('nbf');
  // The browser can remove `max_age` from the request, so the response must prove it (Core §3.1.2.1).
  const maxAge = Object.hasOwn(parameters, 'max_age') ? Number(parameters.max_age) : undefined;
  if (maxAge !== undefined && !(isSeconds(auth_time) && now <= (auth_time + maxAge) * 1000 + leeway))
    throw refusal('auth_time');
  return exp * 1000;
}

/** Returns the `sub` if it can identify an account; otherwise throws. */
export function requireSubject({ sub }: JsonObject): string {
  if (typeof sub !== 'string' || sub.trim() === '' || sub.length > maxSubjectLength) throw refusal('sub');
  // A store may truncate or replace such characters, and merge two subjects into one account.
  if (!sub.isWellFormed() || /\p{Cc}/u.test(sub)) throw refusal('sub');
  return sub;
}

/** The id of the session at the provider, if it is a text of 1 to 255 characters (Back-Channel Logout §2.1). */
export function sidIn({ sid }: JsonObject): string | undefined {
  return typeof sid === 'string' && sid !== '' && sid.length <= maxSubjectLength && sid.isWellFormed()
    ? sid
    : undefined;
}

/** Verifies the signature by exactly the named algorithm, with the named key. */
export async function requireSignature(
  token: string,
  named: { readonly alg: string; readonly kid?: string },
  keys: ProviderKeys,
): Promise<void> {
  const key = await keys.find(named);
  try {
    await compactVerify(token, key, { algorithms: [named.alg] });
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refusal(error.code);
    throw error;
  }
}

function requireClaims(claims: JsonObject, required: IdentityProviderConfig['require']): void {
  const lacking = Object.keys(required).find((name) => !hasValue(claims, name, required[name]!));
  if (lacking !== undefined) throw new Refusal('user_not_provisioned', { cause: `claim ${lacking}` });
}

/** Returns an optional claim, which must be a text. */
export function optionalText(claims: JsonObject, name: string): string | undefined {
  const value = claims[name];
  if (value !== undefined && typeof value !== 'string') throw refusal(name);
  return value;
}

/** A digest of `jti` or, if there is none, of the signed part: anyone can vary an ECDSA signature, but not what it signs. */
export function replayIdOf(payload: JsonObject, signingInput: string, issuer: string): string {
  const jti = optionalText(payload, 'jti');
  const identity = JSON.stringify(jti ? [issuer, 'jti', jti] : [issuer, 'signed', signingInput]);
  return createHash('sha256').update(identity).digest('base64url');
}

/** The refusal of a token. */
export function refusal(cause: string): Refusal {
  return new Refusal('invalid_assertion', { cause });
}

/** True for a NumericDate (RFC 7519 §2), which may have a fraction. */
function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxSeconds;
}
