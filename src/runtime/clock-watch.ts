import type { Log } from '../log/log.ts';
import type { Counts, MetricsRegistry } from '../metrics/registry.ts';
import type { ClockReading, ServerClock } from '../stores/remote/server-clock.ts';
import { clockToleranceMs } from '../stores/steady-clock.ts';

/** Time for which a clock that was set ahead is in doubt, ms. */
const doubtMs = 24 * 3_600_000;

/** Dependencies of {@link ClockWatch}. */
export interface ClockWatchOptions {
  /** Clocks of the stores. */
  readonly clocks: readonly ServerClock[];
  /** This machine's clock, epoch ms. */
  readonly now: () => number;
  /** A monotonic clock, ms; default `performance.now()`. */
  readonly elapsed?: () => number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly registry: MetricsRegistry;
}

/**
 * Compares this machine's clock with those of the stores, and with a monotonic clock. Gateways need not be compared with each
 * other: all are compared with the same stores.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #elapsed: () => number;
  readonly #steps: Counts<'ahead' | 'back'>;
  /** The last reading of each store's clock; null if the store was unavailable. */
  readonly #readings = new Map<string, ClockReading | null>();
  readonly #apart = new Set<string>();
  /** The clock minus the milliseconds elapsed, as last read. */
  #offset: number;
  #setAheadAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { now, registry, elapsed = () => performance.now() } = options;
    this.#elapsed = elapsed;
    this.#offset = now() - elapsed();
    this.#steps = registry.counts(
      'direction',
      'clock_steps_total',
      'How often the clock of this machine was set, by direction: ahead, back.',
      ['ahead', 'back'],
    );
    if (options.clocks.length > 0) this.#addSkew(registry);
  }

  /** Compares now; called at the start, and each minute. */
  async compare(): Promise<void> {
    this.#noteStep();
    await Promise.all(this.#options.clocks.map((clock) => this.#compareWith(clock)));
  }

  /** False for a day after the clock was set ahead: the time may be wrong, and deletions can't be undone. */
  isCertain(): boolean {
    this.#noteStep();
    return this.#elapsed() - this.#setAheadAt >= doubtMs;
  }

  /** Lead of this machine's clock over the slowest of the stores', ms, as last compared; 0 if it isn't ahead. */
  leadMs(): number {
    return Math.max(0, ...[...this.#readings.values()].map((reading) => reading?.aheadMs ?? 0));
  }

  #noteStep(): void {
    const offset = this.#options.now() - this.#elapsed();
    const byMs = Math.round(offset - this.#offset);
    this.#offset = offset;
    if (Math.abs(byMs) <= clockToleranceMs) return;
    this.#steps[byMs > 0 ? 'ahead' : 'back'] += 1;
    if (byMs > 0) this.#setAheadAt = this.#elapsed();
    // Time that the machine is suspended does not pass for this process.
    const jump = byMs > 0 ? 'forward: it was set, or the machine was suspended' : 'back: it was set';
    this.#options.log.warn(`system clock jumped ${jump}`, { jump_ms: Math.abs(byMs) });
  }

  async #compareWith({ store, compare }: ServerClock): Promise<void> {
    const readings = await compare(this.#options.now).catch(() => []);
    const [reading = null] = readings.toSorted(
      (one, other) => Math.abs(other.aheadMs) - Math.abs(one.aheadMs),
    );
    this.#readings.set(store, reading);
    if (reading === null) return;
    const { aheadMs, uncertaintyMs } = reading;
    const { log } = this.#options;
    if (!this.#apart.has(store) && Math.abs(aheadMs) - uncertaintyMs > clockToleranceMs) {
      this.#apart.add(store);
      log.warn("system clock differs from the store's clock", {
        store,
        system_clock_ahead_ms: Math.round(aheadMs),
        uncertainty_ms: Math.ceil(uncertaintyMs),
      });
    } else if (this.#apart.has(store) && Math.abs(aheadMs) + uncertaintyMs <= clockToleranceMs) {
      this.#apart.delete(store);
      log.info("system clock agrees with the store's clock again", { store });
    }
  }

  #addSkew(registry: MetricsRegistry): void {
    const collect = (value: (reading: ClockReading) => number) => () =>
      [...this.#readings].flatMap(([store, reading]) =>
        reading === null ? [] : [{ labels: { store }, value: value(reading) / 1000 }],
      );
    registry.add({
      name: 'clock_skew_seconds',
      help: 'How far the clock of this machine is ahead of a store’s, by store; absent while that is unavailable.',
      type: 'gauge',
      combination: 'average',
      collect: collect(({ aheadMs }) => aheadMs),
    });
    registry.add({
      name: 'clock_skew_uncertainty_seconds',
      help: 'By how much that may be wrong: half the round trip.',
      type: 'gauge',
      combination: 'max',
      collect: collect(({ uncertaintyMs }) => uncertaintyMs),
    });
  }
}
