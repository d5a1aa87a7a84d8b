import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findProgram } from '../support/programs.ts';
import { goTool, makeClientFolder, pythonTool, requireTools, runTool } from './client-tools.ts';

const folder = join(import.meta.dirname, '../../.github/workflows');
const files = ['ci.yml', 'release.yml'].map((name) => join(folder, name));
const [, release] = files as [string, string];

t.test('actionlint has nothing to say about the workflows', async (t) => {
  if (findProgram(['go'], 'version') === undefined) {
    t.pass('needs Go', { skip: 'actionlint is built by Go, which is not installed' });
    return;
  }
  const linter = goTool('actionlint');
  if (!requireTools(t, linter)) return;
  // Whether ShellCheck is there depends on the machine.
  const lint = (...names: string[]) => runTool(linter, ['-shellcheck=', '-pyflakes=', ...names]);
  t.match(await lint(...files), { code: 0, printed: '' });

  const wrong = join(makeClientFolder(t).folder, 'release.yml');
  writeFileSync(wrong, readFileSync(release, 'utf8').replace('needs: build', 'needs: built'));
  t.match(await lint(wrong), { code: 1, printed: /built/ });
});

t.test('they are what the schema of workflows says', async (t) => {
  const checker = pythonTool('check-jsonschema');
  if (!requireTools(t, checker)) return;
  const check = (...names: string[]) =>
    runTool(checker, ['--builtin-schema', 'vendor.github-workflows', ...names]);
  const { code, printed } = await check(...files);
  t.equal(code, 0, printed);
  const wrong = join(makeClientFolder(t).folder, 'release.yml');
  writeFileSync(wrong, readFileSync(release, 'utf8').replace('runs-on:', 'run-on:'));
  t.not((await check(wrong)).code, 0);
});
