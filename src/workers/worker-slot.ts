import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import { Restarts } from './restarts.ts';
import type { StartedWorker, SupervisorFunctions, WorkerStart } from './worker-api.ts';
import { describeEnd, type Outputs, type ProcessEnd, WorkerProcess } from './worker-process.ts';

/** What slots have in common. */
export interface SlotOptions {
  /** How a process starts that takes the place of one that ended. */
  readonly startAgain: () => WorkerStart;
  /** Where all workers listen; called when one is about to. */
  readonly places: SupervisorFunctions['places'];
  /** What a process had counted that has ended. */
  readonly onEnded: (counts: readonly MetricSnapshot[]) => void;
  readonly outputs: Outputs;
  readonly log: Pick<Log, 'info' | 'error'>;
}

/** The place of one worker: a process that serves, or another that is started for it. */
export class WorkerSlot {
  /** From 1. */
  readonly number: number;
  readonly #options: SlotOptions;
  readonly #restarts = new Restarts();
  #process: WorkerProcess;
  #isServing = false;
  #hasServed = false;
  #isStopping = false;
  /** It was ended because another configuration came. */
  #isOutdated = false;
  /** Why it could not start. */
  #failure: unknown = null;
  /** What the process has counted, as far as is known. */
  #counts: readonly MetricSnapshot[] = [];
  #loaded!: Promise<void>;
  #kept: Promise<ProcessEnd | null> = Promise.resolve(null);

  /** Starts a process, which serves once it is told how. */
  constructor(number: number, options: SlotOptions) {
    this.number = number;
    this.#options = options;
    this.#process = this.#launch();
  }

  /** The process, while it serves. */
  get serving(): WorkerProcess | null {
    return this.#isServing && !this.#process.hasEnded ? this.#process : null;
  }

  /** What the process has counted, as far as is known. */
  get counts(): readonly MetricSnapshot[] {
    return this.#counts;
  }

  /** Serves for the first time; rejects as the worker does, or because it ended. From then on the place is kept. */
  async start(start: WorkerStart): Promise<StartedWorker> {
    const started = await this.#serve(start);
    this.#kept = this.#keep();
    return started;
  }

  /** Every metric of the process; rejects if it does not serve. */
  async metrics(): Promise<readonly MetricSnapshot[]> {
    const { serving } = this;
    if (serving === null) throw new Error('the worker does not serve');
    const metrics = await serving.remote.metrics();
    // What was scraped must not be forgotten if the process ends now.
    if (serving === this.serving) this.#counts = metrics.filter(onlyGrows);
    return metrics;
  }

  /** Another configuration came while a process was starting again with the last one: it starts over. */
  startAnew(): void {
    if (!this.#hasServed || this.#isServing || this.#process.hasEnded) return;
    this.#isOutdated = true;
    this.#process.kill();
  }

  /** Drains and ends the process; resolves to how it ended, null if there was none. After `timeoutMs` it is killed. */
  async stop(timeoutMs: number): Promise<ProcessEnd | null> {
    this.#isStopping = true;
    const { serving } = this;
    if (serving === null) {
      this.kill();
      return null;
    }
    serving.remote.stop().catch(() => {});
    const timer = setTimeout(() => serving.kill(), timeoutMs);
    const end = await this.#kept;
    clearTimeout(timer);
    return end;
  }

  /** Ends the process at once, and starts no other. */
  kill(): void {
    this.#isStopping = true;
    this.#process.kill();
  }

  #launch(): WorkerProcess {
    const { promise, resolve } = Promise.withResolvers<void>();
    const launched: WorkerProcess = new WorkerProcess(
      this.number,
      {
        loaded: resolve,
        places: this.#options.places,
        counted: (counts) => {
          if (launched === this.#process) this.#counts = counts;
        },
      },
      this.#options.outputs,
    );
    this.#loaded = Promise.race([promise, launched.ended.then(() => {})]);
    return launched;
  }

  async #serve(start: WorkerStart): Promise<StartedWorker> {
    await this.#loaded;
    const started = await this.#process.remote.start(start);
    this.#isServing = true;
    this.#hasServed = true;
    this.#restarts.served();
    return started;
  }

  /** Starts another process whenever one has ended; resolves to how the last one ended. */
  async #keep(): Promise<ProcessEnd | null> {
    for (;;) {
      const end = await this.#process.ended;
      this.#isServing = false;
      this.#options.onEnded(this.#counts);
      this.#counts = [];
      if (this.#isStopping) return end;
      const pauseMs = this.#isOutdated ? 0 : this.#restarts.pauseMs();
      this.#report(end, pauseMs);
      await sleep(pauseMs);
      if (this.#isStopping) return end;
      this.#isOutdated = false;
      this.#failure = null;
      await this.#serveAgain();
    }
  }

  async #serveAgain(): Promise<void> {
    try {
      this.#process = this.#launch();
    } catch (error) {
      this.#failure = error;
      return;
    }
    const launched = this.#process;
    try {
      await this.#serve(this.#options.startAgain());
      this.#options.log.info('worker started again', { worker: this.number });
    } catch (error) {
      if (!launched.hasEnded) this.#failure = error;
      launched.kill();
    }
  }

  #report(end: ProcessEnd, pauseMs: number): void {
    const { log } = this.#options;
    const fields = { worker: this.number, restart_in_ms: pauseMs };
    if (this.#failure !== null) log.error('worker could not start', { ...fields, err: this.#failure });
    else if (!this.#isOutdated) log.error('worker ended', { ...fields, reason: describeEnd(end) });
  }
}

function onlyGrows({ type, combination }: MetricSnapshot): boolean {
  return type !== 'gauge' && combination !== 'each';
}
