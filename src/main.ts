import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './cli/run.ts';

// The reader of standard error may be gone; that is no reason to stop.
process.stderr.on('error', () => {});

void main();

async function main(): Promise<void> {
  const exitCode = await run(process.argv.slice(2), process);
  // A stalled reader must not delay the exit.
  await Promise.race([new Promise((resolve) => process.stderr.write('', resolve)), sleep(1_000)]);
  // Not left to the event loop: a gateway that failed to start may still hold open handles.
  process.exit(exitCode);
}
