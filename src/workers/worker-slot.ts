import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { ReportRemoved } from '../runtime/removed-headers.ts';
import type { ListenerAddresses, Opened } from '../serve/running-gateway.ts';
import type { WorkerStart } from './worker-api.ts';
import { describeEnd, type Outputs, type ProcessEnd, WorkerProcess } from './worker-process.ts';

/** Time for which a process has to serve before its end counts as the first one again, ms. */
const soundAfterMs = 60_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** The pauses before a worker is started again: none after the first end, then longer each time. */
export class Restarts {
  readonly #now: () => number;
  #ends = 0;
  #servedSince: number | null = null;

  /** `now`: a monotonic clock, ms; default `performance.now()`. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records that a process serves from now on. */
  served(): void {
    this.#servedSince = this.#now();
  }

  /** Returns the pause, ms, after a process that has just ended. */
  pauseMs(): number {
    if (this.#servedSince !== null && this.#now() - this.#servedSince >= soundAfterMs) this.#ends = 0;
    this.#servedSince = null;
    this.#ends += 1;
    return this.#ends === 1 ? 0 : Math.min(firstPauseMs * 2 ** (this.#ends - 2), longestPauseMs);
  }
}

/** Options of every slot of a gateway. */
export interface SlotOptions {
  /** Returns the arguments for a process that replaces one that ended; called once the new process has loaded. */
  readonly startAgain: () => { readonly start: WorkerStart; readonly addresses: ListenerAddresses };
  /** Called with the counts of a process that has ended. */
  readonly onEnded: (counts: readonly MetricSnapshot[]) => void;
  /** Called with the counts of removed headers that a process reports. */
  readonly onRemoved: ReportRemoved;
  readonly outputs: Outputs;
  readonly log: Pick<Log, 'info' | 'error'>;
}

/** Slot of one worker: a process that serves, and after its end another in its place. */
export class WorkerSlot {
  /** Number of the worker, from 1. */
  readonly number: number;
  readonly #options: SlotOptions;
  readonly #restarts = new Restarts();
  #process: WorkerProcess | null = null;
  #isServing = false;
  #isStopping = false;
  /** True if the process was killed while it was starting with an outdated configuration. */
  #isOutdated = false;
  /** Error of the last start. */
  #failure: unknown = null;
  /** Resolves to the end of the last process, once no further one will be started. */
  #kept: Promise<ProcessEnd | null> = Promise.resolve(null);

  constructor(number: number, options: SlotOptions) {
    this.number = number;
    this.#options = options;
  }

  /** The process, while it serves. */
  get serving(): WorkerProcess | null {
    return this.#isServing && this.#process?.hasEnded === false ? this.#process : null;
  }

  /** Counters and histograms of the process, as far as they are known. */
  get counts(): readonly MetricSnapshot[] {
    return this.#process?.counts ?? [];
  }

  /** Starts a process, which does not serve yet. Throws if the system can't start it. */
  launch(): void {
    const { outputs, onRemoved } = this.#options;
    this.#process = new WorkerProcess(this.number, outputs, onRemoved);
  }

  /** Has the launched process open the stores; rejects as the worker does, or because it ended. */
  async open(start: WorkerStart): Promise<void> {
    await this.#launched.loaded;
    await this.#launched.call('open', start);
  }

  /** Has the process serve, then starts another whenever one ends; rejects as the worker does, or because it ended. */
  async listen(addresses: ListenerAddresses): Promise<Opened> {
    const opened = await this.#listen(addresses);
    this.#kept = this.#keep();
    return opened;
  }

  /** Returns every metric of the process; rejects if it does not serve. */
  async metrics(): Promise<readonly MetricSnapshot[]> {
    const { serving } = this;
    if (serving === null) throw new Error('the worker does not serve');
    const metrics = await serving.call('metrics');
    // Scraped counts must not be forgotten if the process ends now.
    if (serving === this.serving) serving.counts = metrics.filter(onlyGrows);
    return metrics;
  }

  /** Kills a process that is still starting, so that another starts with the latest configuration. */
  startAnew(): void {
    if (this.#isServing || this.#launched.hasEnded) return;
    this.#isOutdated = true;
    this.#launched.kill();
  }

  /** Drains and ends the process, killing it after `timeoutMs`; resolves to how it ended, or null if it did not serve. */
  async stop(timeoutMs: number): Promise<ProcessEnd | null> {
    this.#isStopping = true;
    const { serving } = this;
    if (serving === null) {
      this.kill();
      return null;
    }
    serving.call('stop').catch(() => {});
    const timer = setTimeout(() => serving.kill(), timeoutMs);
    const end = await this.#kept;
    clearTimeout(timer);
    return end;
  }

  /** Ends the process at once, and starts no other. */
  kill(): void {
    this.#isStopping = true;
    this.#process?.kill();
  }

  get #launched(): WorkerProcess {
    if (this.#process === null) throw new Error('no process has been launched');
    return this.#process;
  }

  async #listen(addresses: ListenerAddresses): Promise<Opened> {
    const opened = await this.#launched.call('listen', addresses);
    this.#isServing = true;
    this.#restarts.served();
    return opened;
  }

  /** Starts another process whenever one has ended; resolves to how the last one ended. */
  async #keep(): Promise<ProcessEnd | null> {
    for (;;) {
      const process = this.#launched;
      const end = await process.ended;
      this.#isServing = false;
      this.#options.onEnded(process.counts);
      process.counts = [];
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
      this.launch();
    } catch (error) {
      this.#failure = error;
      return;
    }
    const launched = this.#launched;
    try {
      await launched.loaded;
      const { start, addresses } = this.#options.startAgain();
      await this.open(start);
      await this.#listen(addresses);
      this.#options.log.info('worker restarted', { worker: this.number });
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
