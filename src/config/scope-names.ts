import { z } from 'zod';
import { scopeToken } from '../rules/scope-token.ts';
import { mapByName, matching } from './scalars.ts';

const scopeRule = 'must be a scope token (RFC 6749): visible ASCII without " and \\';

const builtIn: readonly string[] = [
  'apikeys:read',
  'apikeys:write',
  'audit:read',
  'scopesets:read',
  'scopesets:write',
  'sessions:read',
  'sessions:write',
  'users:read',
  'users:write',
];

/** `scopes`: the catalogue besides the built-in scopes, each with a description. */
export const scopes = mapByName(
  scopeToken,
  scopeRule,
  z.string().describe('What the scope allows, for people.'),
)
  .prefault({})
  .describe('The catalogue of scopes and what each allows; those of Postern’s own endpoints are built in.');

/** A list of scopes; that they are in the catalogue is judged with the whole configuration. */
export function scopeList() {
  return z.array(matching(scopeToken, scopeRule));
}

/** All scopes that can be granted, built-in ones included, sorted by code units. */
export function catalogueOf(config: { readonly scopes: Readonly<Record<string, unknown>> }): string[] {
  return [...new Set([...builtIn, ...Object.keys(config.scopes)])].sort();
}
