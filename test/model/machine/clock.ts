import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

const source = join(import.meta.dirname, 'clock.c');

/** The real-time clock of one process, and of those that it starts. */
export interface MovableClock {
  /** What the process needs in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** How far ahead of the machine's it was made, ms. */
  readonly offsetMs: number;
  /** It is that much ahead of the machine's from now on, ms; behind it if negative. */
  set(offsetMs: number): void;
}

/** Makes clocks; null where no C compiler is installed, and the test says so. */
export type ClockMaker = ((name: string, offsetMs?: number) => MovableClock) | null;

/** Compiles what moves the clocks into that folder. */
export function compileClocks(t: Test, folder: string): ClockMaker {
  const library = join(folder, 'clock.so');
  const { error, status, stderr } = spawnSync('gcc', ['-shared', '-fPIC', '-O1', '-o', library, source], {
    encoding: 'utf8',
  });
  if (error !== undefined || status !== 0) {
    const reason = `clocks are not moved: gcc is not installed, or can't compile (${error?.message ?? stderr})`;
    if (process.env.POSTERN_TEST_ALL === undefined) t.pass('clocks are moved', { skip: reason });
    else t.fail(reason);
    return null;
  }
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  chmodSync(library, 0o755);
  return (name, offsetMs = 0) => {
    const file = join(folder, `${name}.clock`);
    const set = (ms: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(Math.round(ms)));
      // In place: processes have the file mapped.
      writeFileSync(file, bytes, { flag: 'r+' });
    };
    writeFileSync(file, Buffer.alloc(8), { mode: 0o644 });
    set(offsetMs);
    return { offsetMs, env: { LD_PRELOAD: library, POSTERN_TEST_CLOCK: file }, set };
  };
}
