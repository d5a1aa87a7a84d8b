import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';

/** Which script runs the tests of a folder, at default size; `null`: the default tier, `npm test`. */
const scripts: Readonly<Record<string, string | null>> = {
  contract: null,
  faults: null,
  fuzz: null,
  http: null,
  unit: null,
  applications: 'test:applications',
  clients: 'test:clients',
  helm: 'test:chart',
  image: 'test:chart',
  kubernetes: 'test:kubernetes',
  long: 'test:long',
  stores: 'test:stores',
  processes: 'test:processes',
  upstreams: 'test:long',
};
/** Whatever imports these starts a Redis or a PostgreSQL. */
const servers = ['postgres-programs.ts', 'postgres-server.ts', 'redis-server.ts'];
const mayStartServers = ['applications', 'clients', 'helm', 'kubernetes', 'long', 'stores'];

const root = join(import.meta.dirname, '../..');
const tests = globSync('test/**/*.test.ts', { cwd: root });
const specifier = /(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)'(\.{1,2}\/[^']+)'/g;
const folderOf = (file: string) => file.split('/')[1]!;

/** That file and every file of `test/` that it imports, directly or not. */
function reachableFrom(file: string, seen = new Set<string>()): Set<string> {
  if (!file.startsWith('test/') || seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, to] of text.matchAll(specifier)) reachableFrom(join(dirname(file), to!), seen);
  return seen;
}

t.test('every test is in a folder that a script of package.json runs', async (t) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [included] = manifest.tap.include as string[];
  for (const folder of new Set(tests.map(folderOf))) {
    const script = scripts[folder];
    if (script === null) t.ok(included!.split(/[{},]/).includes(folder), `npm test runs test/${folder}`);
    // Its tests are run by a program that finds them by the pattern.
    else if (script === 'test:kubernetes')
      t.match(
        readFileSync(join(root, manifest.scripts[script].split(' ')[1]), 'utf8'),
        `test/${folder}/*.test.ts`,
      );
    else if (script === 'test:long') t.match(manifest.scripts[script], 'test/*/*.test.ts');
    else
      t.match(manifest.scripts[script!], `test/${folder}/*.test.ts`, `npm run ${script} runs test/${folder}`);
  }
  t.strictSame(
    tests.filter((file) => file.split('/').length !== 3),
    [],
    'none is deeper than those patterns',
  );
});

t.test('only tests in test/stores and tiers of their own start Redis or PostgreSQL', async (t) => {
  const misplaced = tests
    .filter((file) => !mayStartServers.includes(folderOf(file)))
    .filter((file) => servers.some((server) => reachableFrom(file).has(`test/support/${server}`)));
  t.strictSame(misplaced, []);
});

t.test('only tests in test/applications, test/clients and test/upstreams start a browser', async (t) => {
  const mayStartBrowser = ['applications', 'clients', 'upstreams'];
  const misplaced = tests.filter(
    (file) =>
      !mayStartBrowser.includes(folderOf(file)) && reachableFrom(file).has('test/support/pages/browser.ts'),
  );
  t.strictSame(misplaced, []);
});
