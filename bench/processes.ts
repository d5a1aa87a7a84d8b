import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findExecutable } from './machine.ts';

/** A program to start: its output goes to `<name>.out` and `<name>.err` in the bench's folder. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Set in its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The CPU to pin it to, if taskset is installed; undefined: none. */
  readonly cpu: number | undefined;
}

/** A running program, the leader of its own process group. */
export interface Running {
  readonly program: Program;
  /** Process and process group. */
  readonly pid: number;
  /** Standard output and standard error, as files. */
  readonly outputFile: string;
  readonly errorFile: string;
  /** The exit code, null when ended by a signal. */
  readonly exited: Promise<number | null>;
  /** SIGTERM to the group, SIGKILL after ten seconds; resolves once the leader has exited. */
  stop(): Promise<void>;
}

/** Everything the bench has started. */
export interface Processes {
  start(program: Program): Running;
  /** Runs a program to its end and returns its standard output; rejects if it doesn't exit with 0. */
  run(program: Program): Promise<string>;
  /** SIGKILL to whatever is left: synchronous, for the end of the process. */
  killAll(): void;
}

const stopTimeoutMs = 10_000;

/** Starts programs with their files in `directory`. */
export function createProcesses(directory: string): Processes {
  const groups = new Set<number>();
  const taskset = findExecutable('taskset');

  function start(program: Program): Running {
    const { name, command, args, env, cpu } = program;
    const outputFile = join(directory, `${name}.out`);
    const errorFile = join(directory, `${name}.err`);
    const pinned = taskset !== undefined && cpu !== undefined;
    // Appended to, so that an access log can be emptied between windows without leaving a hole.
    const output = openEmpty(outputFile);
    const errors = openEmpty(errorFile);
    const child = spawn(
      pinned ? taskset : command,
      pinned ? ['-c', String(cpu), command, ...args] : [...args],
      // Its own group: Ctrl-C reaches only the bench, and the bench can signal every worker of a peer.
      {
        detached: true,
        cwd: directory,
        stdio: ['ignore', output, errors],
        env: { ...process.env, NODE_ENV: 'production', ...env },
      },
    );
    closeSync(output);
    closeSync(errors);
    const { pid } = child;
    if (pid === undefined) throw new Error(`${name}: ${command} could not be started`);
    groups.add(pid);
    const exited = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        signalGroup(pid, 'SIGKILL');
        groups.delete(pid);
        resolve(code);
      });
    });
    const stop = async () => {
      if (!groups.has(pid)) return;
      signalGroup(pid, 'SIGTERM');
      const timeout = new AbortController();
      const late = sleep(stopTimeoutMs, undefined, { signal: timeout.signal }).then(
        () => signalGroup(pid, 'SIGKILL'),
        () => undefined,
      );
      await exited;
      timeout.abort();
      await late;
    };
    return { program, pid, outputFile, errorFile, exited, stop };
  }

  async function run(program: Program): Promise<string> {
    const running = start(program);
    const code = await running.exited;
    const output = readFileSync(running.outputFile, 'utf8');
    if (code !== 0)
      throw new Error(`${program.name} exited with ${code}: ${tail(running)}${output.slice(-2000)}`);
    return output;
  }

  return {
    start,
    run,
    killAll() {
      for (const pid of groups) signalGroup(pid, 'SIGKILL');
    },
  };
}

/** The end of what a program wrote to standard error. */
export function tail(running: Running): string {
  return readFileSync(running.errorFile, 'utf8').slice(-2000);
}

function openEmpty(file: string): number {
  writeFileSync(file, '');
  return openSync(file, 'a');
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the group no longer exists.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
