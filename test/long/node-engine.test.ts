import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { engineDifferences, noteOfDifference } from '../support/corpora/engine-differences.ts';

const tests = join(import.meta.dirname, '..');
const isAboutHttp =
  /^(?:http\/(?:corpora|forward|upgrade|websocket|open-streams|api-path|authorization|basic-keys|challenges|cors|decisions|removed-headers)|faults\/(?:upstream|client)-|processes\/(?:reload-connections|websocket-messages))/;
const files = ['http', 'faults', 'processes']
  .flatMap((folder) => readdirSync(join(tests, folder)).map((file) => `${folder}/${file}`))
  .filter((file) => isAboutHttp.test(file) && file.endsWith('.test.ts'));

/** Runs a test file on the other engine; its exit code and its output. */
function runOnNode(file: string): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, POSTERN_TEST_ENGINE: 'node', TAP_TIMEOUT: '1200' };
    const child = spawn(process.execPath, [join(tests, file)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.on('close', (code) => resolve({ code, output }));
  });
}

const title = 'listen.engine: node passes the corpora and the forwarding tests, with the results of the list';
if (process.env.POSTERN_TEST_LONG === undefined)
  t.pass(title, { skip: 'it takes minutes: set POSTERN_TEST_LONG' });
else {
  t.setTimeout(3_000_000);
  t.test(title, async (t) => {
    const asserted = new Set<string>();
    let run = 0;
    for (const file of files) {
      const { code, output } = await runOnNode(file);
      const failed = output.split('\n').filter((line) => /^ *not ok /.test(line));
      t.equal(code, 0, file, { failed });
      const lines = output.split('\n');
      run += lines.filter((line) => line.startsWith('    # Subtest: ') || /^ok [0-9]/.test(line)).length;
      for (const line of lines)
        if (line.startsWith(noteOfDifference)) asserted.add(line.slice(noteOfDifference.length));
    }
    const listed = engineDifferences.flatMap(({ tests }) => Object.keys(tests));
    t.strictSame([...asserted].sort(), listed.sort(), 'every result in the list has been asserted');
    t.comment(`${run} tests in ${files.length} files; ${listed.length} have a result of their own`);
  });
}
