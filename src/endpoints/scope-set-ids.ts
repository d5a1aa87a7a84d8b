import type { ValidationProblem } from '../errors.ts';
import { valueError } from '../input/pydantic-problems.ts';
import type { Records } from '../stores/records.ts';

/** Problems of a body's `scope_sets`: unknown ids. */
export async function scopeSetProblems(
  records: Pick<Records, 'findScopeSets'>,
  ids: readonly string[] = [],
): Promise<readonly ValidationProblem[]> {
  if (ids.length === 0) return [];
  const known = new Set((await records.findScopeSets(ids)).map(({ id }) => id));
  return ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ ...valueError('no such scope set'), loc: ['scope_sets', index], input: id }],
  );
}
