import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { buildBinary } from './node/binary.ts';
import { fetchDefinitions } from './node/definitions.ts';
import { stateFolder } from './node/folders.ts';
import { makeImages } from './node/images.ts';
import { missingRequirements } from './node/requirements.ts';

// Brings up a Kubernetes node, runs tests against it in their order, and takes it down.
//
// node test/kubernetes/run.ts [FILE...]; with `--hold` it stays up for `nsenter`, until Ctrl-C.

process.chdir(join(import.meta.dirname, '../..'));
const say = (line: string) => process.stdout.write(`# ${line}\n`);
const args = process.argv.slice(2);

async function run(): Promise<number> {
  const missing = missingRequirements();
  if (missing.length > 0) {
    say(`SKIPPED: the tests on Kubernetes need ${missing.join(', ')}`);
    return process.env.POSTERN_TEST_ALL === undefined ? 0 : 1;
  }
  buildBinary(say);
  fetchDefinitions();
  const images = makeImages(manifest.version, say);
  const isHeld = args[0] === '--hold';
  const files = args.length > 0 ? args : globSync('test/kubernetes/*.test.ts').sort();
  const timeout = process.env.POSTERN_TEST_LONG === undefined ? '1800' : '14400';
  const tap = ['node_modules/.bin/tap', '--jobs=1', `--timeout=${timeout}`, ...files];
  const command = isHeld ? ['sleep', 'infinity'] : tap;
  const inside = [
    process.execPath,
    join(import.meta.dirname, 'inside.ts'),
    stateFolder,
    JSON.stringify(images),
  ];
  const script = join(import.meta.dirname, 'node/namespace.sh');
  // In a session of its own: Ctrl-C comes here alone, and closes what it reads.
  const child = spawn('bash', [script, stateFolder, ...inside, ...command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.stdin!.end());
  const [code] = await once(child, 'close');
  return code ?? 1;
}

process.exitCode = await run();
