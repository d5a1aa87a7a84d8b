import { managedOf } from '../administration/managed.ts';
import type { Config } from '../config/sections/schema.ts';
import type { Log } from '../log/log.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import { onTicks } from '../ticks.ts';
import type { ReloadMetrics } from './reload-metrics.ts';

/** Interval at which a process checks that no other has superseded its configuration, ms. */
const checkIntervalMs = 5_000;

/** Dependencies of {@link ManagedReadings}. */
export interface ManagedReadingsOptions {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly reloads: Pick<ReloadMetrics, 'superseded'>;
  /** The configuration in force in the records; undefined: none yet. */
  readonly inForce: () => Promise<ConfigurationInForce | undefined>;
}

/**
 * Compares the users and scope sets that this process has read from its configuration with those in force. If another
 * configuration has superseded them, the process warns, and applies nothing until their content changes.
 */
export class ManagedReadings {
  readonly #options: ManagedReadingsOptions;
  readonly #stop: () => void;
  /** Digest of the content that was read last. */
  #digest: string;
  #isSuperseded = false;

  /** `initial`: the configuration at the start, which has been applied. */
  constructor(initial: Config, options: ManagedReadingsOptions) {
    this.#options = options;
    this.#digest = managedOf(initial).digest;
    this.#stop = onTicks(checkIntervalMs, () => void this.check());
  }

  /** `again` if the users and scope sets are those read last, otherwise `next`: the way in which the configuration is applied. */
  readingOf(wanted: Config): ManagedReading {
    return managedOf(wanted).digest === this.#digest ? 'again' : 'next';
  }

  /** Records that a configuration was applied, with that outcome. */
  read(config: Config, outcome: ManagedOutcome['outcome']): void {
    this.#digest = managedOf(config).digest;
    this.#isSuperseded = false;
    this.#judge(outcome === 'superseded');
  }

  /** Checks that the configuration is still in force; does nothing while the records are unavailable. */
  async check(): Promise<void> {
    const own = this.#digest;
    const found = await this.#options.inForce().catch(() => undefined);
    // Another reading may have come meanwhile.
    if (found !== undefined && own === this.#digest) this.#judge(found.digest !== own);
  }

  close(): void {
    this.#stop();
  }

  #judge(isSuperseded: boolean): void {
    const { log, reloads } = this.#options;
    if (isSuperseded && !this.#isSuperseded) log.warn(supersededMessage);
    if (this.#isSuperseded && !isSuperseded)
      log.info('users and scope sets in this configuration are in force again');
    this.#isSuperseded = isSuperseded;
    reloads.superseded(isSuperseded);
  }
}

const supersededMessage =
  'users and scope sets in this configuration are not in force, because a different configuration was applied later; to apply this one, run postern config apply';
