import { encodeHeaderValue, type Principal } from '../credentials/principal.ts';
import { FieldBlock } from '../http1/message/head-text.ts';

/** Facts about the caller that an upstream can receive in a header whose name it chooses. */
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

/** Null for a text that is missing or empty: the header is left out. */
function encoded(text: string | null): string | null {
  return text === null || text === '' ? null : encodeHeaderValue(text);
}
