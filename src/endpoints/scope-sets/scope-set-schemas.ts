import { z } from 'zod';
import { timestamp } from '../../administration/timestamp.ts';
import type { ScopeSetSortField } from '../../stores/scope-set-records.ts';
import { instantOperators } from '../lists/list-fields.ts';
import type { ListSpec } from '../lists/list-spec.ts';
import { pageFields } from '../lists/page.ts';

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

/** Page of scope sets. */
export const scopeSetPage = z
  .object(pageFields(scopeSetRead, 'Sets that pass the filters.'))
  .meta({ id: 'ScopeSetCursorPage' });

/** Fields that scope sets are listed by. */
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
