#!/usr/bin/env node
import { run } from './cli/run.ts';

// Whoever read it may be gone; that is no reason to stop.
process.stderr.on('error', () => {});

const exitCode = await run(process.argv.slice(2), process);
await new Promise((resolve) => {
  process.stderr.write('', resolve);
});
// Not left to the event loop: a gateway that could not start may still hold what it had opened.
process.exit(exitCode);
