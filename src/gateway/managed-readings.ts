import type { Config } from '../config/schema.ts';
import type { Log } from '../log/log.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import { managedOf } from './managed-configuration.ts';
import type { ReloadMetrics } from './reload-metrics.ts';

/** How often it is checked whether another process has superseded the configuration, ms. */
const checkIntervalMs = 5_000;

/** Dependencies of {@link ManagedReadings}. */
export interface ManagedReadingsOptions {
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly reloads: Pick<ReloadMetrics, 'superseded'>;
  /** What counts in the records; undefined: nothing yet. */
  readonly inForce: () => Promise<ConfigurationInForce | undefined>;
}

/**
 * The users and scope sets that this process has read, as against those that are in force: one that others have superseded
 * applies nothing until its content changes, and says so.
 */
export class ManagedReadings {
  readonly #options: ManagedReadingsOptions;
  readonly #timer: NodeJS.Timeout;
  /** Of the content that was applied last. */
  #digest: string;
  #isSuperseded = false;

  /** `initial`: the configuration of the start, which has been applied. */
  constructor(initial: Config, options: ManagedReadingsOptions) {
    this.#options = options;
    this.#digest = managedOf(initial).digest;
    this.#timer = setInterval(() => void this.check(), checkIntervalMs).unref();
  }

  /** How a configuration that was read is to be applied. */
  readingOf(wanted: Config): ManagedReading {
    return managedOf(wanted).digest === this.#digest ? 'again' : 'next';
  }

  /** It was applied, with that outcome. */
  read(config: Config, outcome: ManagedOutcome['outcome']): void {
    this.#digest = managedOf(config).digest;
    this.#isSuperseded = false;
    this.#judge(outcome === 'superseded');
  }

  /** Looks up whether it is still in force; nothing is known while the records are unavailable. */
  async check(): Promise<void> {
    const own = this.#digest;
    const found = await this.#options.inForce().catch(() => undefined);
    // Another reading may have come meanwhile.
    if (found !== undefined && own === this.#digest) this.#judge(found.digest !== own);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #judge(isSuperseded: boolean): void {
    const { log, reloads } = this.#options;
    if (isSuperseded && !this.#isSuperseded) log.warn(supersededMessage);
    if (this.#isSuperseded && !isSuperseded)
      log.info('users and scope sets of the configuration in force again');
    this.#isSuperseded = isSuperseded;
    reloads.superseded(isSuperseded);
  }
}

const supersededMessage =
  'users and scope sets of the configuration not applied: another configuration was applied since; postern config apply applies this one';
