import {
  type HandshakeFailure,
  type HandshakeFailureReason,
  handshakeFailures,
} from '../http1/server/handshake-failure.ts';
import type { Log } from '../log/log.ts';
import { type Counts, type MetricsRegistry, zeroCounts } from '../metrics/registry.ts';

const logIntervalMs = 60_000;

/** Counts failed TLS handshakes by reason and logs them: the first one at once, then at most one line a minute. */
export class FailedHandshakes {
  readonly #log: Pick<Log, 'info'>;
  readonly #counts: Counts<HandshakeFailureReason>;
  readonly #intervalMs: number;
  #unreported: Counts<HandshakeFailureReason> | null = null;
  #last: (HandshakeFailure & { readonly listener: string }) | null = null;
  /** Timer of the interval after a log line; null: the next failure is logged at once. */
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Pick<Log, 'info'>, registry: Pick<MetricsRegistry, 'counts'>, intervalMs = logIntervalMs) {
    this.#log = log;
    this.#intervalMs = intervalMs;
    this.#counts = registry.counts(
      'reason',
      'tls_handshake_failures_total',
      `TLS handshakes of clients that failed, by reason: ${handshakeFailures.join(', ')}.`,
      handshakeFailures,
    );
  }

  /** Counts a failure; `listener` is the listener's key in the configuration. */
  count(failure: HandshakeFailure, listener: string): void {
    const { reason } = failure;
    this.#counts[reason]++;
    this.#unreported ??= zeroCounts(handshakeFailures);
    this.#unreported[reason]++;
    this.#last = { ...failure, listener };
    if (this.#timer === null) this.#report();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#report();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #report(): void {
    this.#timer = null;
    if (this.#unreported === null || this.#last === null) return;
    const reasons = Object.entries(this.#unreported).filter(([, count]) => count > 0);
    const { listener, code, address } = this.#last;
    this.#log.info('TLS handshakes failed', {
      count: reasons.reduce((sum, [, count]) => sum + count, 0),
      reasons: Object.fromEntries(reasons),
      last: { listener, code, ...(address !== '' && { address }) },
    });
    this.#unreported = null;
    this.#timer = setTimeout(() => this.#report(), this.#intervalMs).unref();
  }
}
