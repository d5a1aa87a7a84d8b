import { encodeHeaderValue, type Principal } from '../credentials/principal.ts';
import { FieldBlock } from '../http1/message/head-text.ts';

/** Facts about the caller that an upstream can receive, as header values; null: the header is left out. */
const identityValues = {
  subject: ({ userId }) => encodeHeaderValue(userId),
  username: ({ username }) => encoded(username),
  display_name: ({ displayName }) => encoded(displayName),
  email: ({ email }) => encoded(email),
  method: ({ kind }) => kind,
  scopes: ({ scopes }) => scopes.map(encodeHeaderValue).join(' '),
  scopes_csv: ({ scopes }) => scopes.map(encodeHeaderValue).join(','),
  credential_id: ({ credentialId }) => encodeHeaderValue(credentialId),
  tenant: (_principal, tenant) => encodeHeaderValue(tenant),
} satisfies Record<string, (principal: Principal, tenant: string) => string | null>;

/** A fact about the caller that an upstream can receive in a header whose name it chooses. */
export type IdentityField = keyof typeof identityValues;

/** The headers by which one upstream learns who the caller is. */
export type IdentityHeadersOf = (principal: Principal) => FieldBlock;

/**
 * Creates the identity headers of one upstream: `X-Auth-*`, then those whose names it chooses. Fields that the caller doesn't
 * have are left out, but not scopes, which may be empty. Computed once per principal.
 */
export function createIdentityHeaders(
  names: Readonly<Record<string, IdentityField>>,
  tenant: string,
): IdentityHeadersOf {
  const fields = Object.entries(names);
  if (fields.length === 0) return (principal) => principal.identity;
  const known = new WeakMap<Principal, FieldBlock>();
  return (principal) => {
    let headers = known.get(principal);
    if (headers === undefined) {
      headers = new FieldBlock([
        ...principal.identity.fields,
        ...fields.flatMap(([name, field]) => {
          const value = identityValues[field](principal, tenant);
          return value === null ? [] : [name, value];
        }),
      ]);
      known.set(principal, headers);
    }
    return headers;
  };
}

/** Null for a text that is missing or empty: the header is left out. */
function encoded(text: string | null): string | null {
  return text === null || text === '' ? null : encodeHeaderValue(text);
}
