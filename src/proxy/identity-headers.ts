import { encodeHeaderValue, type Principal } from '../credentials/principal.ts';

/** What an upstream may be told of the caller in a header of its own choice. */
export type IdentityField =
  | 'subject'
  | 'username'
  | 'display_name'
  | 'email'
  | 'method'
  | 'scopes'
  | 'scopes_csv'
  | 'credential_id'
  | 'tenant';

/** Names and values in turn of what one upstream is told of a caller. */
export type IdentityHeadersOf = (principal: Principal) => readonly string[];

/**
 * Builds what an upstream is told: the `X-Auth-*` headers, then those in the names it reads already. What the caller
 * does not have is absent; scopes are there and empty when there are none. Worked out once a principal.
 */
export function createIdentityHeaders(
  names: Readonly<Record<string, IdentityField>>,
  tenant: string,
): IdentityHeadersOf {
  const fields = Object.entries(names);
  if (fields.length === 0) return (principal) => principal.identityHeaders;
  const known = new WeakMap<Principal, readonly string[]>();
  return (principal) => {
    let headers = known.get(principal);
    if (headers === undefined) {
      headers = Object.freeze([
        ...principal.identityHeaders,
        ...fields.flatMap(([name, field]) => {
          const value = headerValue(principal, field, tenant);
          return value === null ? [] : [name, value];
        }),
      ]);
      known.set(principal, headers);
    }
    return headers;
  };
}

function headerValue(principal: Principal, field: IdentityField, tenant: string): string | null {
  switch (field) {
    case 'subject':
      return encodeHeaderValue(principal.userId);
    case 'username':
      return encoded(principal.username);
    case 'display_name':
      return encoded(principal.displayName);
    case 'email':
      return encoded(principal.email);
    case 'method':
      return principal.kind;
    case 'scopes':
      return principal.scopes.map(encodeHeaderValue).join(' ');
    case 'scopes_csv':
      return principal.scopes.map(encodeHeaderValue).join(',');
    case 'credential_id':
      return encodeHeaderValue(principal.credentialId);
    case 'tenant':
      return encodeHeaderValue(tenant);
  }
}

/** A text that is not there, or empty, says nothing. */
function encoded(text: string | null): string | null {
  return text === null || text === '' ? null : encodeHeaderValue(text);
}
