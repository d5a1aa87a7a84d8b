import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openApiDocument } from '../../src/openapi/document.ts';
import { makeClientFolder, nodeTool, pythonTool, requireTools, runTool } from './client-tools.ts';

const root = join(import.meta.dirname, '../..');
const failsOnWarnings = '--fail-severity=warn';

const linters: Record<string, readonly [tool: string, ...args: string[]]> = {
  'openapi-spec-validator': [pythonTool('openapi-spec-validator')],
  'redocly lint': [
    nodeTool('redocly'),
    'lint',
    '--config',
    join(root, 'redocly.yaml'),
    '--max-problems=50',
    '--format=json',
  ],
  spectral: [nodeTool('spectral'), 'lint', '--ruleset', join(root, '.spectral.yaml'), failsOnWarnings],
};

/** What a linter finds; empty: nothing. Redocly ends with 0 when it has warnings alone. */
async function problemsOf(t: Test, [tool, ...args]: readonly [string, ...string[]], document: object) {
  const { folder } = makeClientFolder(t);
  const file = join(folder, 'linted.json');
  writeFileSync(file, JSON.stringify(document, null, 2));
  const { code, printed } = await runTool(tool, [...args, file]);
  return code !== 0 || /"warnings": [1-9]/.test(printed) ? `exit code ${code}: ${printed}` : '';
}

for (const [name, command] of Object.entries(linters)) {
  t.test(`${name} finds nothing in the document`, async (t) => {
    if (!requireTools(t, command[0])) return;
    t.equal(await problemsOf(t, command, openApiDocument()), '');
  });

  t.test(`${name} finds a reference that leads nowhere`, async (t) => {
    if (!requireTools(t, command[0])) return;
    const text = JSON.stringify(openApiDocument()).replace('schemas/LoginResponse"', 'schemas/Nothing"');
    t.not(await problemsOf(t, command, JSON.parse(text)), '');
  });
}
