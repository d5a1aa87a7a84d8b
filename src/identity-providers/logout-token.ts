import { Refusal } from '../errors.ts';
import type { SessionsOfProvider } from '../stores/sessions.ts';
import {
  type AssertionRules,
  optionalText,
  readToken,
  refusal,
  replayIdOf,
  requireParties,
  requireSignature,
  requireSubject,
  requireTimes,
  sidIn,
} from './id-token.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';

/** A logout token that is valid now: signed by its provider, for us. */
export interface VerifiedLogout {
  readonly sessions: SessionsOfProvider;
  /** Identifies the token, by its `jti`. */
  readonly replayId: string;
  /** Instant at which the token has expired on every clock within the leeway, epoch ms. */
  readonly acceptedUntil: number;
}

/** The member of `events` that makes a token a logout token. */
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6) by the rules of ID tokens, except for claims that only
 * one of the two has. The caller checks that the token is used only once. Rejects with {@link Refusal} `bad_request`;
 * `provider_unavailable` when no keys can be fetched.
 */
export async function verifyLogoutToken(token: string, rules: AssertionRules): Promise<VerifiedLogout> {
  try {
    return await verify(token, rules);
  } catch (error) {
    throw error instanceof Refusal && error.code === 'invalid_assertion'
      ? refusedLogout(String(error.options.cause))
      : error;
  }
}

/** The refusal of a logout token. */
export function refusedLogout(cause: string): Refusal {
  return new Refusal('bad_request', { cause, reason: 'logout token' });
}

async function verify(token: string, { settings, keys, now }: AssertionRules): Promise<VerifiedLogout> {
  const { named, payload, signingInput } = readToken(token, settings.algorithms, 'LOGOUT+JWT');
  // Cheap checks come first: any other token must not cause a fetch of keys.
  requireLogout(payload);
  requireParties(payload, settings);
  // `auth_time`, which `max_age` asks for, is only in ID tokens.
  const expires = requireTimes(payload, { leeway: settings.leeway, parameters: {} }, now());
  const sessions = sessionsIn(payload, settings.issuer);
  if (!optionalText(payload, 'jti')) throw refusal('jti');
  const replayId = replayIdOf(payload, signingInput, settings.issuer);
  await requireSignature(token, named, keys);
  return { sessions, replayId, acceptedUntil: expires + settings.leeway };
}

/** Requires `events` and refuses a `nonce`, so that neither a logout token nor an ID token passes as the other. */
function requireLogout({ events, nonce }: JsonObject): void {
  if (!isJsonObject(events) || !isJsonObject(events[logoutEvent])) throw refusal('events');
  if (nonce !== undefined) throw refusal('nonce');
}

/** The sessions to end: only the one that `sid` names if there is a `sid`, otherwise all of the subject at this issuer. */
function sessionsIn(payload: JsonObject, issuer: string): SessionsOfProvider {
  const subject = payload.sub === undefined ? undefined : requireSubject(payload);
  if (payload.sid !== undefined) {
    const sid = sidIn(payload);
    if (sid === undefined) throw refusal('sid');
    return { issuer, sid };
  }
  if (subject === undefined) throw refusal('neither sub nor sid');
  return { issuer, subject };
}
