import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeClientFolder, pythonTool, requireTools, runTool } from './client-tools.ts';

const checker = pythonTool('check-jsonschema');
const file = join(import.meta.dirname, '../../examples/compose/compose.yaml');
const check = (path: string) => runTool(checker, ['--builtin-schema', 'vendor.compose-spec', path]);

t.test('examples/compose/compose.yaml is as the Compose specification says', async (t) => {
  if (!requireTools(t, checker)) return;
  const { code, printed } = await check(file);
  t.equal(code, 0, printed);

  const { folder } = makeClientFolder(t);
  const wrong = join(folder, 'compose.yaml');
  writeFileSync(wrong, readFileSync(file, 'utf8').replace('read_only:', 'readonly:'));
  t.not((await check(wrong)).code, 0, 'a key that it has not is found');
});
