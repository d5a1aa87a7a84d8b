import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { MetricSnapshot, MetricsRegistry } from '../metrics/registry.ts';
import { onTicks } from '../ticks.ts';

/** Interval of reports while clients are connected, ms; counts not yet reported are lost if a worker is killed. */
const intervalMs = 250;
/** Interval of reports while nothing is connected and no count changes, ms. */
const idleIntervalMs = 500;

/** Reports a worker's counts whenever they have changed, more often while clients are connected. */
export class CountReports {
  readonly #registry: Pick<MetricsRegistry, 'counted'>;
  readonly #report: (counts: readonly MetricSnapshot[]) => void;
  #reported = '';
  /** Number of open connections. */
  #open = 0;
  /** Timer of the shorter interval; null while nothing is connected and no count changes. */
  #timer: NodeJS.Timeout | null = null;

  constructor(
    registry: Pick<MetricsRegistry, 'counted'>,
    report: (counts: readonly MetricSnapshot[]) => void,
  ) {
    this.#registry = registry;
    this.#report = report;
  }

  /** Starts the reports, which continue until the process ends and don't keep it alive. */
  start(): void {
    onTicks(idleIntervalMs, () => void this.#check());
    // Published by Node for each socket that any server accepts.
    subscribe('net.server.socket', (message) => {
      const { socket } = message as { readonly socket: Socket };
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
      });
      this.#timer ??= setInterval(() => void this.#checkWhileBusy(), intervalMs).unref();
    });
  }

  /** True while reports are made at the shorter interval. */
  get isBusy(): boolean {
    return this.#timer !== null;
  }

  async #checkWhileBusy(): Promise<void> {
    if ((await this.#check()) || this.#open > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Resolves to true if counts had changed. */
  async #check(): Promise<boolean> {
    const counts = await this.#registry.counted();
    const text = JSON.stringify(counts.map(({ samples }) => samples.map(({ value }) => value)));
    if (text === this.#reported) return false;
    this.#reported = text;
    this.#report(counts);
    return true;
  }
}
