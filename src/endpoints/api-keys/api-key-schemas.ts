import { z } from 'zod';
import { booleanText } from '../../input/pydantic-types.ts';
import { pageFields } from '../lists/page.ts';

export const statuses = ['active', 'expired', 'suspended'] as const;

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
