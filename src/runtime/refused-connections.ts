import { closeSync, openSync } from 'node:fs';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';

/** Reasons for closing a connection before its first byte. */
const reasons = ['limit', 'descriptors', 'address'] as const;

/** Names of the reasons in the log. */
const logNames = {
  limit: 'connection_limit',
  descriptors: 'descriptor_limit',
  address: 'address_limit',
} as const;

/** A reason, as in the metric `connections_refused_total`. */
export type RefusedBecause = (typeof reasons)[number];

const lineIntervalMs = 60_000;

/**
 * Counts the connections that were closed before their first byte, and the seconds without a free descriptor. The log has a
 * line with their numbers as soon as there are any, then at most one a minute.
 */
export class RefusedConnections {
  readonly #total: Record<RefusedBecause, number>;
  #secondsWithout = 0;
  /** The numbers at the time of the last line. */
  #logged = { limit: 0, descriptors: 0, address: 0, secondsWithout: 0 };
  /** Time of the last line, by `now`. */
  #lastLine = Number.NEGATIVE_INFINITY;
  readonly #log: Pick<Log, 'warn'>;
  readonly #now: () => number;

  /** `now`: a monotonic clock, ms. */
  constructor(
    registry: MetricsRegistry,
    log: Pick<Log, 'warn'>,
    now: () => number = () => performance.now(),
  ) {
    this.#log = log;
    this.#now = now;
    this.#total = registry.counts(
      'reason',
      'connections_refused_total',
      'Client connections closed before their first byte, by reason: limit, descriptors, address.',
      reasons,
    );
    registry.add({
      name: 'descriptors_exhausted_seconds_total',
      help: 'Seconds in which no file descriptor was free, as checked once in each.',
      type: 'counter',
      collect: () => [{ labels: {}, value: this.#secondsWithout }],
    });
  }

  count(reason: RefusedBecause): void {
    this.#total[reason] += 1;
  }

  /** Checks that a descriptor is free, and logs the numbers if a line is due; called once a second. */
  check(): void {
    if (isOutOfDescriptors()) this.#secondsWithout += 1;
    if (this.#now() - this.#lastLine >= lineIntervalMs) this.flush();
  }

  /** Logs the numbers since the last line, if there are any. */
  flush(): void {
    const now = { ...this.#total, secondsWithout: this.#secondsWithout };
    const since = reasons
      .map((reason) => [logNames[reason], now[reason] - this.#logged[reason]] as const)
      .filter(([, count]) => count > 0);
    const seconds = now.secondsWithout - this.#logged.secondsWithout;
    if (since.length > 0)
      this.#log.warn('client connections refused', {
        count: since.reduce((sum, [, count]) => sum + count, 0),
        reasons: Object.fromEntries(since),
      });
    if (seconds > 0)
      this.#log.warn('ran out of file descriptors: new connections were closed unanswered', {
        exhausted_seconds: seconds,
      });
    if (since.length === 0 && seconds === 0) return;
    this.#logged = now;
    this.#lastLine = this.#now();
  }
}

/** True if no descriptor is left, of this process or of the whole machine: libuv then closes new connections silently. */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' || code === 'ENFILE';
  }
}
