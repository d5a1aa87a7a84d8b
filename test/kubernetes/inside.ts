import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Image } from './node/images.ts';
import { startNode } from './node/node.ts';

// In the namespaces of the node: brings it up, runs what it is called with, and ends, and with it everything.
//
// node inside.ts STATE IMAGES COMMAND...; IMAGES are as JSON. It ends early when its standard input does.

const [state = '', images = '[]', command = '', ...args] = process.argv.slice(2);

process.stdin.once('end', () => process.exit(130)).resume();

function stop(name: string, log: string): void {
  process.stderr.write(`${name} has ended:\n${readFileSync(log, 'utf8').slice(-3000)}`);
  process.exit(1);
}

const since = performance.now();
const environment = await startNode(state, JSON.parse(images) as Image[], stop);
process.stdout.write(`# the node is ready after ${Math.round((performance.now() - since) / 1000)} s\n`);
const child = spawn(command, args, {
  env: { ...process.env, ...environment },
  stdio: ['ignore', 'inherit', 'inherit'],
});
const [code] = await once(child, 'close');
process.exit(code ?? 1);
