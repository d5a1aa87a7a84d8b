import { ValidationError } from '../errors.ts';
import type { Records } from '../stores/records.ts';
import type { ScopeSet } from '../stores/scope-set.ts';

/** The sets of a body's `scope_sets`, sorted by id; rejects with {@link ValidationError} for ids that are unknown. */
export async function requireScopeSets(
  records: Pick<Records, 'findScopeSets'>,
  ids: readonly string[],
): Promise<readonly ScopeSet[]> {
  if (ids.length === 0) return [];
  const sets = await records.findScopeSets(ids);
  const unknown = ids.flatMap((id, index) => (sets.some((set) => set.id === id) ? [] : [{ id, index }]));
  if (unknown.length > 0)
    throw new ValidationError(
      unknown.map(({ id, index }) => ({
        type: 'value_error',
        loc: ['body', 'scope_sets', index],
        msg: 'Value error, no such scope set',
        input: id,
        ctx: { error: {} },
      })),
    );
  return sets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
