import { Refusal } from '../errors.ts';
import { FieldBlock } from '../http1/message/head-text.ts';
import type { SessionOrigin } from '../stores/session-origin.ts';
import { HeldScopes } from './scopes.ts';
import { type Claims, noClaims } from './session-claims.ts';

/** A caller with its credential: created once per credential and records version, then read on every request. */
export interface Principal {
  readonly kind: 'session' | 'api_key';
  /** The user id; for a key, that of the user who minted it. */
  readonly userId: string;
  /** Null once that user has been removed. */
  readonly username: string | null;
  /** Null if the user has none; `email` likewise. */
  readonly displayName: string | null;
  readonly email: string | null;
  /** Scopes that the credential has now, sorted. */
  readonly scopes: readonly string[];
  /** The same scopes, for lookups. */
  readonly held: Readonly<HeldScopes>;
  /** True for a session whose sign-in asked for a `scope`: its rights count as restricted, whatever the scope named. */
  readonly isRestricted: boolean;
  /** The provider sign-in that began a session; null for other sessions, and for a key: the key's record has its origin. */
  readonly origin: SessionOrigin | null;
  /** Ids of the credential's scope sets: its holder may grant a set to others, including scopes added to it later. */
  readonly scopeSets: readonly string[];
  /** Names, sorted, of the holder's scope sets whose every scope the credential has now. */
  readonly scopeSetNames: readonly string[];
  /** Claims that the provider made of the user when the session began; empty for a key, and for a restricted session. */
  readonly claims: Claims;
  /** The id of the session or of the key. */
  readonly credentialId: string;
  /** The epoch in which the session began; 0 for a key. */
  readonly epoch: number;
  /** End of the session or key itself, epoch ms; null: never. */
  readonly expires: number | null;
  /** The `X-Auth-*` headers for the upstream. */
  readonly identity: FieldBlock;
}

/**
 * Looks up all scopes that a credential's holder has now, even if the token is restricted to fewer; null once the credential has
 * ended, or could not be checked for longer than `sessions.stale_if_error`. Rejects while the records store has been unavailable
 * for less than that.
 */
export type HeldNow = (principal: Principal) => Promise<ReadonlySet<string> | null>;

/** Members with a default: those that matter only for sessions, and names of sets, which many have none of. */
type OptionalFields = 'epoch' | 'isRestricted' | 'origin' | 'claims' | 'scopeSetNames';

const none: readonly string[] = [];

/** Creates a principal with its identity headers; `scopes` are sorted and distinct. */
export function createPrincipal(
  who: Omit<Principal, OptionalFields | 'held' | 'identity'> &
    Partial<Pick<Principal, OptionalFields>> & { readonly tenant: string },
): Principal {
  const { tenant, epoch = 0, isRestricted = false, origin = null, ...others } = who;
  const { claims = noClaims, scopeSetNames = none, ...fields } = others;
  return Object.freeze({
    ...fields,
    epoch,
    isRestricted,
    origin,
    claims,
    scopeSetNames,
    held: new HeldScopes(who.scopes),
    identity: new FieldBlock([
      'X-Auth-Subject',
      encodeHeaderValue(who.userId),
      ...(who.username === null ? [] : ['X-Auth-Username', encodeHeaderValue(who.username)]),
      'X-Auth-Method',
      who.kind,
      'X-Auth-Scopes',
      who.scopes.map(encodeHeaderValue).join(' '),
      who.kind === 'session' ? 'X-Auth-Session-Id' : 'X-Auth-Key-Id',
      encodeHeaderValue(who.credentialId),
      'X-Auth-Tenant',
      encodeHeaderValue(tenant),
    ]),
  });
}

/** A text as a header value: every UTF-8 byte outside `!`-`~`, and `%`, percent-encoded (RFC 3986 §2.1). */
export function encodeHeaderValue(text: string): string {
  if (/^[!-$&-~]*$/.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x21 && byte <= 0x7e && byte !== 0x25;
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** Throws `insufficient_scope`, with the missing scopes, unless the caller holds all of `needed`. */
export function requireScopes(principal: Principal, needed: readonly string[]): void {
  const missing = principal.held.missing(needed);
  if (missing.length > 0)
    throw new Refusal('insufficient_scope', { missingScopes: missing, neededScopes: needed });
}
