#!/usr/bin/env node
// Plain JavaScript, for any Node that can hand over. In a checkout it runs the sources, in a package what was built of them.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import handing from './hand-over.cjs';

const sources = new URL('../src/main.ts', import.meta.url);

if (!handing.handOver(fileURLToPath(import.meta.url))) {
  // Halves the CPU time of every start but the first. Where the folder can't be written, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
  await import(existsSync(sources) ? sources.href : new URL('../dist/main.js', import.meta.url).href);
}
