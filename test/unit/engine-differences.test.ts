import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { notRefused } from '../../src/runtime/engine.ts';
import { engineDifferences } from '../support/corpora/engine-differences.ts';

const root = join(import.meta.dirname, '../..');

t.test('docs/failures.md lists every difference between the engines, and no other', async (t) => {
  const text = readFileSync(join(root, 'docs/failures.md'), 'utf8');
  const section = text.split('## The other HTTP engine\n')[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  t.strictSame(
    rows.slice(1),
    engineDifferences.map(({ difference, reason }) => `| ${difference} | ${reason} |`),
  );
});

t.test('the warning at start names what the other engine does not refuse', async (t) => {
  t.strictSame(
    notRefused,
    engineDifferences.flatMap(({ not_refused }) => not_refused ?? []),
  );
});

t.test('every difference is a result that some test expects', async (t) => {
  const texts = ['http', 'faults', 'processes', 'corpora'].flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(root, 'test', folder, name), 'utf8')),
  );
  texts.push(readFileSync(join(root, 'test/support/corpora/engine-differences.ts'), 'utf8'));
  for (const { difference, tests } of engineDifferences) {
    t.ok(Object.keys(tests).length > 0, difference);
    for (const name of Object.keys(tests))
      t.ok(
        texts.some((text) => text.includes(`'${name}'`) || text.includes(JSON.stringify(name))),
        name,
      );
  }
});
