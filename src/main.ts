#!/usr/bin/env node
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './cli/run.ts';

// Whoever read it may be gone; that is no reason to stop.
process.stderr.on('error', () => {});

const exitCode = await run(process.argv.slice(2), process);
// A reader who stands still must not keep us.
await Promise.race([new Promise((resolve) => process.stderr.write('', resolve)), sleep(1_000)]);
// Not left to the event loop: a gateway that could not start may still hold what it had opened.
process.exit(exitCode);
