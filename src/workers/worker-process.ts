import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { passLines } from './pass-lines.ts';
import { type Message, ProcessCalls, type Remote } from './process-calls.ts';
import type { SupervisorFunctions, WorkerFunctions } from './worker-api.ts';

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker ended in the middle of a call, or could not be started at all. */
export class WorkerEnded extends Error {
  readonly code = 'worker_ended';

  constructor(how: string) {
    super(how);
    this.name = 'WorkerEnded';
  }
}

/** Where what a worker writes goes, whole lines at a time. */
export interface Outputs {
  readonly log: (lines: string) => void;
  readonly errors: (lines: string) => void;
}

const entry = new URL(`worker${extname(import.meta.filename)}`, import.meta.url);

/** One process that serves. */
export class WorkerProcess {
  /** Its functions; they reject once it has ended. */
  readonly remote: Remote<WorkerFunctions>;
  /** Resolves once it has ended, and everything that it wrote has been passed on. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  #hasEnded = false;

  /** Starts it; `slot` is what it is called in a list of processes. Throws if the system can't. */
  constructor(slot: number, functions: SupervisorFunctions, outputs: Outputs) {
    const child = fork(entry, [`worker-${slot}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    // Those of its channel as well: its end follows.
    child.on('error', () => {});
    if (child.pid === undefined)
      throw new WorkerEnded('a worker could not be started: the system has no room for it');
    const calls = new ProcessCalls<SupervisorFunctions, WorkerFunctions>(functions, (message) => {
      // That it has ended is seen by its end, not by what can't be sent to it.
      child.send(message, () => {});
    });
    this.remote = calls.remote;
    child.on('message', (message) => calls.receive(message as Message));
    const written = Promise.all([
      passLines(child.stdout!, outputs.log),
      passLines(child.stderr!, outputs.errors),
    ]);
    this.ended = endOf(child).then(async (end) => {
      this.#hasEnded = true;
      await written;
      calls.close(new WorkerEnded(`a worker ended (${describeEnd(end)})`));
      return end;
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** For a sentence: the signal or the exit code. */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `exit code ${code}`;
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}
