import { ManagedProblems } from '../../administration/managed.ts';
import { configuredPaths } from '../../config/configured-files.ts';
import { formatProblem } from '../../config/report/problems.ts';
import type { Log } from '../../log/log.ts';
import { stateNow, WatchedFiles } from '../../runtime/watched-files.ts';
import type { RunningGateway } from '../../serve/running-gateway.ts';
import { type Call, Failure } from '../command.ts';
import { linesOf, type ReadConfig, warningLines } from '../configuration.ts';

/** Pause between a change and reading it, ms: more files may be about to change. */
const settleMs = 200;

/** The first delay before a failed reload is tried again, ms; it doubles with every failure. */
const retryDelayMs = 1_000;
const longestRetryDelayMs = 60_000;

/** The part of a gateway, in one process or several, that takes another configuration. */
type Reloadable = Pick<RunningGateway, 'reload' | 'reloadFailed'>;

/**
 * Reads the configuration again on SIGHUP and whenever one of its files changes: the configuration itself, the files its values
 * come from, the logo, the TLS files for upstreams and stores, and the keys of the records. An invalid configuration is reported
 * and the running one stays; a valid one that can't be applied yet, because of a file or a store, is tried again.
 */
export class ConfigurationWatch {
  readonly #read: () => ReadConfig;
  readonly #log: Log;
  #gateway: Reloadable | null = null;
  /** True if something has changed that hasn't been read yet. */
  #isStale = false;
  #watched: readonly string[] = [];
  readonly #files = new WatchedFiles([], () => this.#onChange());
  /** State of the watched files when they were read last. */
  #states: ReadonlyMap<string, string> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #underway: Promise<void> = Promise.resolve();
  #retryInMs = retryDelayMs;

  /** `read` reads the configuration again; `first` is what it has read. */
  constructor({ terminal }: Pick<Call, 'terminal'>, read: () => ReadConfig, first: ReadConfig, log: Log) {
    this.#read = read;
    this.#log = log;
    this.#watch(first);
    terminal.on('SIGHUP', () => this.#reload());
  }

  /** Applies changes to this gateway from now on, and at once if something has changed since the configuration was read. */
  applyTo(gateway: Reloadable): void {
    this.#gateway = gateway;
    if (this.#isStale) this.#reload();
  }

  #watch(next: ReadConfig): void {
    const before = this.#watched;
    // While the configuration can't be read, the files that it named before are watched.
    const named = next.config === undefined ? before : configuredPaths(next.config);
    const files = [...new Set([...next.sources, ...named])];
    this.#files.watch(files);
    this.#watched = files;
  }

  /** Schedules a reload, unless the change has been read already because of a signal. */
  #onChange(): void {
    if (this.#watched.some((file) => stateNow(file) !== this.#states.get(file))) this.#reloadIn(settleMs);
  }

  #reloadIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#reload(), delayMs).unref();
  }

  #reload(): void {
    this.#isStale = true;
    const gateway = this.#gateway;
    if (gateway === null) return;
    clearTimeout(this.#timer);
    this.#underway = this.#underway.then(() => this.#reloadNow(gateway));
  }

  async #reloadNow(gateway: Reloadable): Promise<void> {
    const before = statesOf(this.#watched);
    let next: ReadConfig;
    try {
      next = this.#read();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.#states = before;
      gateway.reloadFailed([error.message]);
      return;
    }
    this.#watch(next);
    this.#states = new Map([...statesOf(this.#watched), ...before]);
    if (next.config === undefined) {
      gateway.reloadFailed(next.problems.map((problem) => formatProblem(next.file, problem)));
      if (next.hasFileProblems) this.#retryLater();
      return;
    }
    try {
      await gateway.reload(next.config);
      logWarnings(next, this.#log);
      this.#retryInMs = retryDelayMs;
    } catch (error) {
      if (error instanceof ManagedProblems) {
        gateway.reloadFailed(linesOf(next, error.findings));
        return;
      }
      gateway.reloadFailed([
        fileFailureOf(error) ?? (error instanceof Error ? error.message : String(error)),
      ]);
      this.#retryLater();
    }
  }

  #retryLater(): void {
    this.#reloadIn(this.#retryInMs);
    this.#retryInMs = Math.min(2 * this.#retryInMs, longestRetryDelayMs);
  }
}

/** Logs probable mistakes in a configuration, as `check` reports them. */
export function logWarnings(read: ReadConfig, log: Log): void {
  const warnings = warningLines(read);
  if (warnings.length > 0) log.warn('configuration warning', { problems: warnings });
}

function statesOf(files: readonly string[]): Map<string, string> {
  return new Map(files.map((file) => [file, stateNow(file)]));
}

/** Sentence about the certificate, key or CA file that can't be read or used; undefined for any other error. */
export function fileFailureOf(error: unknown): string | undefined {
  const { code = '', syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === 'open' && path !== undefined) return `${path}: can't be read (${code})`;
  if (/^ERR_(?:OSSL|SSL|CRYPTO)/.test(code))
    return `listen.tls: an unusable certificate, key or authority (${code})`;
  return undefined;
}
