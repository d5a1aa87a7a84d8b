import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { chunksOf } from './runner/chunks.ts';
import { runFiles } from './runner/run-files.ts';
import { createSummary } from './runner/summary.ts';

// Runs test files, several in one process: what starting a process for each of them costs was half of the default tier.
// A file alone needs none of this: `node test/unit/cookies.test.ts`.
//
// node test/run.ts [--jobs N] [--timeout SECONDS] [PATTERN...]; without a pattern, the default tier.

const filesPerProcess = 10;

const { values, positionals } = parseArgs({
  options: {
    jobs: { type: 'string', default: String(manifest.tap.jobs) },
    timeout: { type: 'string', default: String(manifest.tap.timeout) },
  },
  allowPositionals: true,
});
process.chdir(join(import.meta.dirname, '..'));
const files = globSync(positionals.length > 0 ? positionals : manifest.tap.include).sort();
const waiting = chunksOf(files, filesPerProcess);
const summary = createSummary((line) => process.stdout.write(`${line}\n`));

async function work(): Promise<void> {
  for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift())
    await runFiles(chunk, Number(values.timeout), summary.add);
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.exitCode = summary.end(files.length) ? 0 : 1;
