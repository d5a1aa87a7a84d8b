import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { eventually } from './eventually.ts';
import { guardProcess } from './guarded-process.ts';
import { runRedisCommand } from './redis-command.ts';

/** A process of one program that is started and ended any number of times. */
export interface RedisProcess {
  /** Null while it doesn't run. */
  readonly pid: number | null;
  /** Resolves when it answers a PING. Rejects with what it logged when it ends before. */
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Ends it, if it runs, by that signal; a pause is no hindrance. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Creates it; `logFile` gets what the last start printed, and it answers on the Unix socket `socket`. */
export function createRedisProcess(
  program: string,
  args: readonly string[],
  logFile: string,
  socket: string,
): RedisProcess {
  let child: ChildProcess | null = null;
  return {
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      const log = openSync(logFile, 'w');
      // The socket that one which was killed left behind is nobody's.
      rmSync(socket, { force: true });
      const started = spawn(program, args, { stdio: ['ignore', log, log] });
      closeSync(log);
      child = started;
      guardProcess(started);
      started.once('exit', () => {
        if (child === started) child = null;
      });
      await eventually('an answer or an end', async () => {
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
      // SIGTERM is not acted on before the process goes on.
      child.kill('SIGCONT');
      await ended;
    },
  };
}
