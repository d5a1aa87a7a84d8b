import { z } from 'zod';
import {
  codePointString,
  distinctList,
  linesWithoutControlCharacters,
  withoutControlCharacters,
} from '../input/pydantic-types.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { ScopeSetRecord } from '../stores/scope-set-records.ts';
import { toTimestamp } from './timestamp.ts';

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

/** A scope set as `ScopeSetRead`. */
export function presentScopeSet(
  { id, name, description, scopes, created, updated, managed }: ScopeSetRecord,
  catalogue: ReadonlySet<string>,
) {
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
