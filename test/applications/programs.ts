import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestScope } from '../support/gateway/gateway.ts';
import { guardProcess } from '../support/gateway/guarded-process.ts';

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  /** Standard output and standard error, as they came. */
  readonly printed: string;
}

/** A program to start. */
export interface Started {
  readonly command: readonly [program: string, ...args: string[]];
  /** Its working and home directory. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

const endMilliseconds = 5_000;

/** Variables by which npm and the test runner reach into the programs that a test starts. */
const foreign = /^(?:npm_|NODE_|TAP|_TAP|PIP_|XDG_)/i;

function environmentOf({ folder, env }: Started): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(own), HOME: folder, NO_COLOR: '1', ...env };
}

/** Runs a program to its end, with that text as its input. Never rejects because of its exit code. */
export function runProgram(
  command: readonly [string, ...string[]],
  {
    input = '',
    milliseconds = 120_000,
    ...place
  }: Omit<Started, 'command'> & { readonly input?: string; readonly milliseconds?: number },
): Promise<Ended> {
  const env = environmentOf({ command, ...place });
  const child = spawn(command[0], command.slice(1), { cwd: place.folder, env, timeout: milliseconds });
  guardProcess(child);
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  // A program that ends without reading all of its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, printed: printed.join('') }));
  });
}

/** A program that serves. */
export interface Serving {
  /** Throws what it printed last if it has ended. */
  assertRuns(): void;
  printed(): string;
}

/** Starts a program that serves, until the end of the test. */
export function startProgram(t: TestScope, started: Started): Serving {
  const log = join(started.folder, 'output');
  const output = openSync(log, 'a');
  const [program, ...args] = started.command;
  const child = spawn(program, args, {
    cwd: started.folder,
    env: environmentOf(started),
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  guardProcess(child);
  let failure: Error | undefined;
  child.on('error', (error) => {
    failure = error;
  });
  const hasEnded = () => failure !== undefined || child.exitCode !== null || child.signalCode !== null;
  const printed = () => readFileSync(log, 'utf8');
  t.teardown(async () => {
    if (hasEnded()) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
    await ended;
    clearTimeout(late);
  });
  return {
    printed,
    assertRuns() {
      if (hasEnded()) throw failure ?? new Error(`${program} has ended: ${printed().slice(-2_000)}`);
    },
  };
}
