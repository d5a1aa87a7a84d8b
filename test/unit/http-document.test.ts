import { readFileSync } from 'node:fs';
import t from 'tap';
import { type RefusalCode, refusals } from '../../src/errors.ts';

/** Codes that docs/http.md names at a status, in the order of its table; a 422 is no refusal of the table in errors.ts. */
const codesByStatus = Map.groupBy(
  [...(Object.keys(refusals) as RefusalCode[]), 'validation_error' as const],
  (code) => (code === 'validation_error' ? 422 : refusals[code].status),
);

t.test('docs/http.md has every code of errors.ts in the row of its status, and no other', async (t) => {
  const page = readFileSync('docs/http.md', 'utf8');
  const [, table] = /\n\| status \| codes \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)!;
  const rows = table!.trimEnd().split('\n');
  const statuses: number[] = [];
  for (const row of rows) {
    const [, first, second] = row.split('|') as [string, string, string];
    const ofRow = first.split(',').map(Number);
    const named = [...second.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!);
    t.strictSame(named.toSorted(), ofRow.flatMap((status) => codesByStatus.get(status) ?? []).sort(), row);
    statuses.push(...ofRow);
  }
  t.strictSame(statuses.toSorted(), [...codesByStatus.keys()].sort(), 'every status has a row');
});
