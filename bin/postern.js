#!/usr/bin/env node
// Plain JavaScript that earlier versions of Node understand too: they can't load TypeScript, and would print a stack.
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [, major, minor] = /(\d+)\.(\d+)/.exec(manifest.engines.node).map(Number);
const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);

if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) {
  // Halves the CPU time of every start but the first. Where the folder can't be written, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
  await import('../src/main.ts');
} else {
  const folder = new URL('../node_modules/.bin', import.meta.url).pathname;
  process.stderr.write(
    `postern: this is Node ${process.versions.node}, and ${major}.${minor} or later is needed.\n` +
      `On Linux the packages bring one along: export PATH=${folder}:$PATH\n`,
  );
  process.exitCode = 1;
}
