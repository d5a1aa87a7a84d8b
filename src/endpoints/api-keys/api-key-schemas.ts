import { z } from 'zod';
import { rfc3339 } from '../../input/pydantic-datetime.ts';
import {
  booleanText,
  codePointString,
  distinctList,
  togetherAtLeastOne,
  withoutControlCharacters,
} from '../../input/pydantic-types.ts';
import { pageFields } from '../lists/page.ts';

export const statuses = ['active', 'expired', 'suspended'] as const;

/** What bounds a new key. */
export interface NewKeyBounds {
  /** What may be granted; empty: any scope (the OpenAPI document). */
  readonly catalogue: readonly string[];
  /** Milliseconds; null: no bound. */
  readonly maxLifetimeMs: number | null;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What a new key asks for. With a longest life, `expires: null` is malformed, and so is a later end. */
export function apiKeyWriteCreate({ catalogue, maxLifetimeMs, now }: NewKeyBounds) {
  const fields = z.strictObject({
    label: codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }).describe(
      'Outer white space is trimmed; what is left has 1 to 128 characters.',
    ),
    scopes: distinctList(scopeOf(catalogue), { max: 64 }).describe(
      "Of the catalogue and the caller's own; may be empty only if `scope_sets` is not.",
    ),
    scope_sets: distinctList(z.string(), { max: 16 }).default([]).describe('Ids of scope sets.'),
    expires: (maxLifetimeMs === null
      ? rfc3339({ future: now }).nullish()
      : rfc3339({ future: now, latest: () => now() + maxLifetimeMs }).optional()
    ).describe(
      'With an offset, in the future. Null: never; absent: as long as allowed. With `api_keys.max_lifetime` set, at most that far away and never null.',
    ),
  });
  return togetherAtLeastOne(fields, ['scopes', 'scope_sets']).meta({
    id: 'ApiKeyWriteCreate',
    description: '`scopes` and `scope_sets` together hold at least one item.',
  });
}

function scopeOf(catalogue: readonly string[]) {
  const [first, ...others] = catalogue;
  return first === undefined ? z.string() : z.enum([first, ...others]);
}

/** `?hydrate` of reading a key. */
export const hydrateQuery = z.object({ hydrate: hydrate() });

/** `?hydrate` of minting a key. */
export const mintQuery = z.strictObject({ hydrate: hydrate() });

/** `?children` of a deletion. */
export const deleteQuery = z.strictObject({
  children: booleanText().prefault(false).describe('Also deletes the keys minted with it.'),
});

/** `hydrate` of calls that return keys. */
export function hydrate() {
  return booleanText()
    .prefault(true)
    .describe('Shows `created_by` and `scope_sets` as objects instead of bare ids.');
}

const timestamp = z.iso.datetime({ precision: 3 });

const readFields = {
  id: z.string(),
  label: z.string(),
  hint: z.string().describe('The prefix and four characters of the key.'),
  scopes: z.array(z.string()),
  scope_sets: z
    .array(z.union([z.string(), z.object({ id: z.string(), name: z.string(), scopes: z.array(z.string()) })]))
    .describe('Objects with `hydrate=true`, bare ids otherwise.'),
  created: timestamp,
  created_by: z
    .union([z.string(), z.object({ id: z.string(), username: z.string().nullable() })])
    .describe('An object with `hydrate=true`, the bare id otherwise.'),
  parent: z.string().nullable().describe('Id of the key it was minted with.'),
  expires: timestamp.nullable(),
  last_used: timestamp.nullable().describe('To about a minute.'),
  status: z.enum(statuses),
} as const;

export const apiKeyRead = z.object(readFields).meta({ id: 'ApiKeyRead' });
export const apiKeyInDb = z.object(readFields).meta({ id: 'ApiKeyInDb' });
export const apiKeyReadCreate = z
  .object({ ...readFields, key: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'ApiKeyReadCreate' });

export const apiKeyPage = z
  .object(pageFields(apiKeyInDb, 'Keys that pass the filters.'))
  .meta({ id: 'ApiKeyInDbCursorPage' });
