import { z } from 'zod';
import { scopeToken } from '../../rules/text-limits.ts';
import { mapByName, matching } from './scalars.ts';

const scopeRule = 'must be a scope token (RFC 6749): visible ASCII without " and \\';

/** The scopes of Postern's own endpoints with their descriptions; every catalogue has them. */
export const builtInScopes: Readonly<Record<string, string>> = {
  'apikeys:read': 'List and read API keys',
  'apikeys:write': 'Mint and delete API keys',
  'audit:read': 'Read the audit log',
  'scopesets:read': 'List and read scope sets',
  'scopesets:write': 'Create, change and delete scope sets',
  'sessions:read': 'List and read sessions',
  'sessions:write': 'End sessions',
  'users:read': 'List and read users',
  'users:write': 'Create, change and delete users',
};

/** `scopes`: the catalogue besides the built-in scopes, each with a description. */
export const scopes = mapByName(
  scopeToken,
  scopeRule,
  z.string().describe('Description of the scope, for people.'),
)
  .prefault({})
  .describe(
    'The catalogue of scopes with their descriptions; those of Postern’s own endpoints are built in.',
  );

/** A list of scopes; a rule of the whole configuration checks that the catalogue has them. */
export function scopeList() {
  return z.array(matching(scopeToken, scopeRule));
}

/** All scopes that can be granted, built-in ones included, sorted by code units. */
export function catalogueOf(config: { readonly scopes: Readonly<Record<string, unknown>> }): string[] {
  return [...new Set([...Object.keys(builtInScopes), ...Object.keys(config.scopes)])].sort();
}
