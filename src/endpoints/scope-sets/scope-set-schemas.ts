import { z } from 'zod';
import {
  codePointString,
  distinctList,
  linesWithoutControlCharacters,
  withoutControlCharacters,
} from '../../input/pydantic-types.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { ScopeSetRecord, ScopeSetSortField } from '../../stores/scope-set-records.ts';
import { instantOperators } from '../lists/list-fields.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { pageFields } from '../lists/page.ts';
import { timestamp, toTimestamp } from '../timestamp.ts';

const maxScopes = 256;
const maxDescription = 1024;

function setFields(catalogue: readonly string[]) {
  const [first, ...others] = catalogue;
  const scope = first === undefined ? z.string() : z.enum([first, ...others]);
  return {
    name: codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }),
    description: codePointString({ max: maxDescription, pattern: linesWithoutControlCharacters }),
    scopes: distinctList(scope, { max: maxScopes }).describe("Of the catalogue and the caller's own."),
  };
}

/** A new scope set; `catalogue` is sorted, and empty for any scope (the OpenAPI document). */
export function scopeSetCreate(catalogue: readonly string[]) {
  const { name, description, scopes } = setFields(catalogue);
  return z
    .strictObject({ name, description: description.default(''), scopes })
    .meta({ id: 'ScopeSetCreate' });
}

/** A merge patch (RFC 7396) of a scope set. */
export function scopeSetPatch(catalogue: readonly string[]) {
  const { name, description, scopes } = setFields(catalogue);
  return z
    .strictObject({
      name: name.optional(),
      description: description.nullable().optional().describe('Null: empty.'),
      scopes: scopes.optional().describe('Replaces all.'),
    })
    .meta({ id: 'ScopeSetPatch', description: 'A merge patch (RFC 7396): absent members stay.' });
}

/** A scope set as it is read. */
export const scopeSetRead = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    scopes: z.array(z.string()).describe('Of `administrator`: the whole catalogue.'),
    created: timestamp,
    updated: timestamp,
    managed: z.boolean().describe('Kept by the configuration, which alone may change it.'),
  })
  .meta({ id: 'ScopeSetRead' });

/** One page of scope sets. */
export const scopeSetPage = z
  .object(pageFields(scopeSetRead, 'Sets that pass the filters.'))
  .meta({ id: 'ScopeSetCursorPage' });

/** What scope sets are listed by. */
export function scopeSetListSpec(catalogue: readonly string[]): ListSpec<ScopeSetSortField> {
  return {
    name: 'scope-sets',
    fields: [
      {
        name: 'name',
        type: 'string',
        operators: ['contains', 'eq'],
        notes: { contains: 'ASCII case-insensitive.' },
      },
      {
        name: 'scopes',
        type: 'array',
        operators: ['contains'],
        values: catalogue,
        notes: { contains: 'May come more than once; a set that has all of them.' },
      },
      { name: 'managed', type: 'boolean', operators: ['eq'] },
      { name: 'created', type: 'datetime', operators: instantOperators },
      { name: 'updated', type: 'datetime', operators: instantOperators },
    ],
    sortFields: ['created', 'name', 'updated'],
    sortNote: '`name` by code points.',
  };
}

/** A scope set as {@link scopeSetRead}. */
export function presentScopeSet(
  { id, name, description, scopes, created, updated, managed }: ScopeSetRecord,
  catalogue: ReadonlySet<string>,
): z.input<typeof scopeSetRead> {
  return {
    id,
    name,
    description,
    scopes: id === administratorSetId ? [...catalogue].sort() : [...scopes],
    created: toTimestamp(created),
    updated: toTimestamp(updated),
    managed,
  };
}
