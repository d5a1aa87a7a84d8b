import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Starts a program that runs as long as the node, with a log of its own. */
export type StartDaemon = (name: string, program: string, args: readonly string[]) => void;

/** Their logs are below `state`; `failed` is called with the name of one that ends. */
export function createDaemons(state: string, failed: (name: string, log: string) => void): StartDaemon {
  const logs = join(state, 'logs');
  mkdirSync(logs);
  return (name, program, args) => {
    const file = join(logs, `${name}.log`);
    const log = openSync(file, 'w');
    const child = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    child.once('error', () => failed(name, file));
    child.once('exit', () => failed(name, file));
  };
}

/** The arguments that stand for `--key=value`, after the name of a program in the one binary. */
export function inHyperkube(
  name: string,
  flags: Readonly<Record<string, string | number | boolean>>,
): string[] {
  return [name, ...Object.entries(flags).map(([key, value]) => `--${key}=${value}`)];
}
