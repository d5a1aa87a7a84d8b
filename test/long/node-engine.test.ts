import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { engineDifferences } from '../support/engine-differences.ts';

const folder = join(import.meta.dirname, '../http');
const files = readdirSync(folder).filter((file) => /^(?:corpora|forward|upgrade|websocket)-/.test(file));

/** Runs a test file on the other engine; its exit code and its output. */
function runOnNode(file: string): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, POSTERN_TEST_ENGINE: 'node', TAP_TIMEOUT: '1200' };
    const child = spawn(process.execPath, [join(folder, file)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.on('close', (code) => resolve({ code, output }));
  });
}

if (process.env.POSTERN_TEST_LONG === undefined)
  t.pass('listen.engine: node passes them too', { skip: 'it takes minutes: set POSTERN_TEST_LONG' });
else {
  t.setTimeout(3_000_000);
  t.test('listen.engine: node passes the corpora and the forwarding tests, but for the list', async (t) => {
    const skipped = new Set<string>();
    for (const file of files) {
      const { code, output } = await runOnNode(file);
      t.equal(code, 0, file);
      for (const [, difference] of output.matchAll(/# SKIP (.+)$/gm)) skipped.add(difference!.trim());
    }
    for (const { difference, tests } of engineDifferences)
      if (tests.length > 0) t.ok(skipped.has(difference), `some test still differs: ${difference}`);
  });
}
