import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { filesNamedIn, recipes } from '../applications/recipes.ts';

t.test('there are thirty recipes, each with a heading of its own', async (t) => {
  t.ok(recipes.length >= 30, `${recipes.length} recipes`);
  t.equal(new Set(recipes.map(({ title }) => title)).size, recipes.length);
});

for (const { title, config } of recipes)
  t.test(`${title}: the recipe is a good configuration`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-recipe-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    for (const file of filesNamedIn(config).map((name) => join(folder, name))) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'a secret of the service, and long enough');
    }
    const file = join(folder, 'postern.yaml');
    writeFileSync(file, stringify(config));
    const { problems, warnings } = loadConfig(file, {});
    t.strictSame(problems, undefined);
    t.strictSame(warnings, [], 'and nothing in it looks unintended');
  });

t.test('what is marked as run is run, and nothing else', async (t) => {
  const tests = globSync('test/applications/*.ts').map((file) => readFileSync(file, 'utf8'));
  const run = tests.flatMap((text) => [...text.matchAll(/recipe: '([^']+)'/g)].map(([, title]) => title!));
  t.ok(run.length > 0);
  for (const { title, isRun } of recipes)
    t.equal(
      run.some((beginning) => title.startsWith(beginning)),
      isRun,
      title,
    );
});
