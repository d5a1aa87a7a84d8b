import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { ReportRemoved } from '../runtime/removed-headers.ts';
import { passLines } from './pass-lines.ts';
import { PendingCalls, type WorkerMessage } from './worker-calls.ts';

/** End of a process. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The error of a call if the worker has ended, or of a worker that could not be started at all. */
export class WorkerEnded extends Error {
  readonly code = 'worker_ended';

  constructor(how: string) {
    super(how);
    this.name = 'WorkerEnded';
  }
}

/** Destinations of a worker's output, called with whole lines. */
export interface Outputs {
  readonly log: (lines: string) => void;
  readonly errors: (lines: string) => void;
}

const entry = new URL(`worker${extname(import.meta.filename)}`, import.meta.url);

/** Process of a worker. */
export class WorkerProcess {
  /** Calls a function of the worker; rejects once the process has ended. */
  readonly call: PendingCalls['call'];
  /** Resolves once the worker can be called, or has ended. */
  readonly loaded: Promise<unknown>;
  /** Resolves once the process has ended, and everything that it wrote has been passed on. */
  readonly ended: Promise<ProcessEnd>;
  /** Counters and histograms, as last reported. */
  counts: readonly MetricSnapshot[] = [];
  hasEnded = false;
  readonly #child: ChildProcess;

  /** Starts the process of worker number `slot`, a number that process listings show. Throws if the system can't start it. */
  constructor(slot: number, outputs: Outputs, onRemoved: ReportRemoved) {
    const child = fork(entry, [`worker-${slot}`], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    // Includes errors of the channel; the exit event reports a dead worker.
    child.on('error', () => {});
    if (child.pid === undefined)
      throw new WorkerEnded('a worker could not be started: the system has no room for it');
    const calls = new PendingCalls((call) => {
      child.send(call, () => {});
    });
    this.call = calls.call.bind(calls) as PendingCalls['call'];
    const loaded = Promise.withResolvers<void>();
    child.on('message', (message: WorkerMessage) => {
      if ('response' in message) calls.settle(message);
      else if ('counted' in message) this.counts = message.counted;
      else if ('removed' in message) onRemoved(message.removed);
      else loaded.resolve();
    });
    const written = Promise.all([
      passLines(child.stdout!, outputs.log),
      passLines(child.stderr!, outputs.errors),
    ]);
    const exited = Promise.withResolvers<ProcessEnd>();
    child.once('exit', (code, signal) => exited.resolve({ code, signal }));
    this.ended = exited.promise.then(async (end) => {
      this.hasEnded = true;
      await written;
      calls.close(new WorkerEnded(`a worker ended (${describeEnd(end)})`));
      return end;
    });
    this.loaded = Promise.race([loaded.promise, this.ended]);
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Describes the end of a process: its signal or exit code. */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `exit code ${code}`;
}
