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

/** A fact about the caller that an upstream can receive in a header with a configured name. */
export type IdentityField = keyof typeof identityValues;

/** Returns the headers that tell one upstream who the caller is. */
export type IdentityHeadersOf = (principal: Principal) => FieldBlock;

/**
 * Creates the function for one upstream's identity headers: `X-Auth-*`, then those in `names`. A header is left out if the caller
 * lacks the fact, but scopes are sent even if there are none. The headers are computed once per principal.
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

/** Encodes a text as a header value; null, which leaves the header out, if it is missing or empty. */
function encoded(text: string | null): string | null {
  return text === null || text === '' ? null : encodeHeaderValue(text);
}
