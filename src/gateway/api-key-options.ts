import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import type { ApiKeyCreateOptions } from '../endpoints/api-keys/create.ts';
import type { AdministrationParts } from './administration-parts.ts';

/** What the calls that mint keys need. */
export function apiKeyCreateOptions(
  { api_keys: { prefix, max_lifetime } }: Config,
  parts: AdministrationParts,
): ApiKeyCreateOptions {
  return {
    ...parts,
    records: parts.stores.records,
    prefix,
    maxLifetimeMs: max_lifetime ?? null,
    random: randomBytes,
  };
}
