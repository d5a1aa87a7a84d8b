import { nameOfGrant } from '../config/sections/identity-providers.ts';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import { isEmailAddress } from '../rules/email-address.ts';
import { maxUsernameCodePoints } from '../rules/text-limits.ts';
import type { JsonObject } from './json-object.ts';

/** The profile of a new account. */
export interface Profile {
  /** NFC, trimmed, 1-128 code points, no control characters; not unique. */
  readonly username: string;
  readonly displayName: string | null;
  readonly email: string | null;
}

/** Rights granted by the provider's claims, sorted; evaluated at each sign-in. */
export interface Granted {
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  /** Names of the matching grants. */
  readonly grants: readonly string[];
}

type PlainValue = string | number | boolean;

/**
 * True if a claim has the wanted value, or is a list with it. A number or boolean equals its text, too (`"true"`): some providers
 * write `email_verified` like that. Objects equal nothing.
 */
export function hasValue(claims: JsonObject, name: string, wanted: PlainValue): boolean {
  const claim = claims[name];
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.some((value) => isPlain(value) && String(value) === String(wanted));
}

/**
 * The profile from the configured claims. An e-mail address doesn't count if the provider says that it is unverified. A missing
 * user name is replaced by the e-mail address or the truncated subject, so that no verified user is refused for lack of a name.
 */
export function profileOf(
  claims: JsonObject,
  subject: string,
  mapping: IdentityProviderConfig['claims'],
): Profile {
  const isUnverified = deniesVerification(claims);
  const email = isUnverified ? undefined : emailIn(claims, mapping.email);
  const name =
    isUnverified && mapping.username === mapping.email ? undefined : nameIn(claims, mapping.username);
  return {
    username: name ?? email ?? cutName(subject),
    displayName: nameIn(claims, mapping.display_name) ?? null,
    email: email ?? null,
  };
}

/** The scopes and scope sets of every configured grant whose claim has the required value. */
export function grantsOf(claims: JsonObject, grants: IdentityProviderConfig['grants']): Granted {
  const held = grants.filter(({ claim, value }) => hasValue(claims, claim, value));
  return {
    scopes: [...new Set(held.flatMap((grant) => grant.scopes))].sort(),
    scopeSets: [...new Set(held.flatMap((grant) => grant.scope_sets))].sort(),
    grants: [...new Set(held.map(nameOfGrant))].sort(),
  };
}

function isPlain(value: unknown): value is PlainValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function textIn(claims: JsonObject, name: string): string | undefined {
  const value = claims[name];
  // Control characters could forge lines of logs and terminals.
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value)
    ? value.trim()
    : undefined;
}

function nameIn(claims: JsonObject, name: string): string | undefined {
  const text = textIn(claims, name)?.normalize('NFC');
  return text !== undefined && text !== '' && [...text].length <= maxUsernameCodePoints ? text : undefined;
}

function emailIn(claims: JsonObject, name: string): string | undefined {
  const text = textIn(claims, name);
  return text !== undefined && isEmailAddress(text) ? text : undefined;
}

/** True if the provider says that the address is unverified, so that anyone may claim it; absent or null says nothing. */
function deniesVerification({ email_verified: verified }: JsonObject): boolean {
  return verified !== undefined && verified !== null && !/^true$/i.test(String(verified));
}

function cutName(subject: string): string {
  return [...subject.normalize('NFC').trim()].slice(0, maxUsernameCodePoints).join('').trim();
}
