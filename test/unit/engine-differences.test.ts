import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { engineDifferences } from '../support/engine-differences.ts';

t.test('docs/operations.md lists every difference between the engines, and no other', async (t) => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const section = text.split('## The other HTTP engine\n')[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  t.strictSame(
    rows.slice(1),
    engineDifferences.map(({ difference, reason }) => `| ${difference} | ${reason} |`),
  );
});
