import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { guardProcess } from '../gateway/guarded-process.ts';
import { runRedisCommand } from './redis-command.ts';

/** A process of one program that is started and ended any number of times. */
export interface RedisProcess {
  /** Null while it isn't running. */
  readonly pid: number | null;
  /** Resolves when it answers a PING. Rejects with its output when it ends before. */
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Ends it, if it is running, by that signal, even when paused. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/**
 * Creates it; `logFile` gets the output of the last start, it responds on the Unix socket `socket`, and `env` is added to
 * its environment.
 */
export function createRedisProcess(
  program: string,
  args: readonly string[],
  logFile: string,
  socket: string,
  env: Readonly<Record<string, string>> = {},
): RedisProcess {
  let child: ChildProcess | null = null;
  return {
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      const log = openSync(logFile, 'w');
      // A killed process leaves its socket behind.
      rmSync(socket, { force: true });
      const started = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
      closeSync(log);
      child = started;
      guardProcess(started);
      started.once('exit', () => {
        if (child === started) child = null;
      });
      await eventually('a response or an end', async () => {
        if (child !== started) return true;
        return (await runRedisCommand(socket, ['PING'])) === 'PONG';
      });
      if (child === started) return;
      throw new Error(readFileSync(logFile, 'utf8'));
    },
    signal: (signal) => void child?.kill(signal),
    async end(signal) {
      if (child === null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      // SIGTERM has no effect before the process is resumed.
      child.kill('SIGCONT');
      await ended;
    },
  };
}
