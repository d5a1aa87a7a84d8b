import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { python } from '../upstreams/program-paths.ts';
import type { FuzzCase } from './fuzz-case.ts';
import { comparableFields, type Reading } from './reading.ts';

/** A Python process running h11. */
export interface H11 {
  readings(cases: readonly FuzzCase[]): Promise<Reading[]>;
  stop(): Promise<void>;
}

/** The last is the distribution's own, which has its packages whichever Python is first on the `PATH`. */
const pythons = [python, 'python3', '/usr/bin/python3'];

/** Starts the first Python that has h11; null if none has. */
export function startH11(): H11 | null {
  const program = pythons.find(
    (each) => spawnSync(each, ['-c', 'import h11'], { stdio: 'ignore' }).status === 0,
  );
  if (program === undefined) return null;
  const child = spawn(program, [join(import.meta.dirname, 'h11-reading.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting: { resolve(reading: Reading): void; reject(error: Error): void }[] = [];
  const gone = new Promise<void>((resolve) => {
    child.on('close', () => {
      for (const { reject } of waiting.splice(0)) reject(new Error('h11 ended'));
      resolve();
    });
  });
  child.stdin.on('error', () => {});
  createInterface(child.stdout).on('line', (line) => {
    const reading: Reading = JSON.parse(line);
    const messages = reading.messages.map((each) => ({ ...each, fields: comparableFields(each.fields) }));
    waiting.shift()?.resolve({ ...reading, messages });
  });
  return {
    readings: (cases) =>
      Promise.all(
        cases.map(
          (each) =>
            new Promise<Reading>((resolve, reject) => {
              waiting.push({ resolve, reject });
              child.stdin.write(`${JSON.stringify(each)}\n`);
            }),
        ),
      ),
    stop() {
      child.stdin.end();
      return gone;
    },
  };
}
