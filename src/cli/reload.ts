import { unwatchFile, watchFile } from 'node:fs';
import { clientTlsFiles } from '../config/client-tls.ts';
import { formatProblem } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import type { RunningGateway } from '../gateway/running-gateway.ts';
import type { Log } from '../log/log.ts';
import type { Call } from './command.ts';
import { type ReadConfig, readConfig, warningLines } from './configuration.ts';

/** How often files are looked at, ms; by what their paths lead to, so that a swapped symbolic link counts too. */
const pollIntervalMs = 1_000;
/** How long after a change it is read, ms: several files may be on their way. */
const settleMs = 200;

/** How long after a configuration could not be taken over it is tried again, ms; then twice as long, and so on. */
const retryDelayMs = 1_000;
const longestRetryDelayMs = 60_000;

/** The reloads of a process. */
export interface Reloads {
  /** Begins with them, with one at once when something has changed since the configuration was read. */
  begin(gateway: RunningGateway): void;
}

/**
 * Reads the configuration again on SIGHUP and whenever one of its files changes: itself, the files its values come from,
 * and those of TLS towards upstreams and stores. An invalid one is reported, and the running one stays; a valid one that
 * can't be taken over yet, for a file or a store, is tried again.
 */
export function watchConfiguration(call: Call, read: ReadConfig, log: Log): Reloads {
  let gateway: RunningGateway | null = null;
  let isWanted = false;
  let watched: readonly string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> = Promise.resolve();
  let retryInMs = retryDelayMs;

  function watch(next: ReadConfig): void {
    const files = filesOf(next, watched);
    for (const file of watched) if (!files.includes(file)) unwatchFile(file, onChange);
    for (const file of files)
      if (!watched.includes(file)) watchFile(file, { interval: pollIntervalMs, persistent: false }, onChange);
    watched = files;
  }

  function onChange(): void {
    reloadIn(settleMs);
  }

  function reloadIn(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(reload, delayMs);
    timer.unref();
  }

  function reload(): void {
    isWanted = true;
    if (gateway === null) return;
    const running = gateway;
    clearTimeout(timer);
    underway = underway.then(() => reloadNow(running));
  }

  async function reloadNow(running: RunningGateway): Promise<void> {
    const next = readConfig(call);
    watch(next);
    if (next.config === undefined) {
      running.reloadFailed(next.problems.map((problem) => formatProblem(next.file, problem)));
      if (next.hasFileProblems) retryLater();
      return;
    }
    try {
      await running.reload(next.config);
      logWarnings(next, log);
      retryInMs = retryDelayMs;
    } catch (error) {
      running.reloadFailed([
        fileFailureOf(error) ?? (error instanceof Error ? error.message : String(error)),
      ]);
      retryLater();
    }
  }

  function retryLater(): void {
    reloadIn(retryInMs);
    retryInMs = Math.min(2 * retryInMs, longestRetryDelayMs);
  }

  watch(read);
  call.terminal.on('SIGHUP', reload);
  return {
    begin(started) {
      gateway = started;
      if (isWanted) reload();
    },
  };
}

/** Logs what a configuration says that is probably not meant, as `check` reports it. */
export function logWarnings(read: ReadConfig, log: Log): void {
  for (const warning of warningLines(read)) log.warn('configuration warning', { warning });
}

/** What a configuration is made of; one that can't be read is looked for where it and its files were. */
function filesOf({ sources, config }: ReadConfig, before: readonly string[]): readonly string[] {
  const files = config === undefined ? before : tlsFiles(config);
  return [...new Set([...sources, ...files])];
}

/** Of every connection that Postern makes. */
function tlsFiles({ upstreams, stores }: Config): string[] {
  const towards = [
    stores.records_tls,
    stores.sessions_tls,
    ...Object.values(upstreams).map(({ tls }) => tls),
  ];
  return towards.flatMap(clientTlsFiles);
}

/** What Node says of a certificate, key or authority file that can't be read or used, as a sentence; else undefined. */
export function fileFailureOf(error: unknown): string | undefined {
  const { code = '', syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === 'open' && path !== undefined) return `${path}: can't be read (${code})`;
  if (/^ERR_(?:OSSL|SSL|CRYPTO)/.test(code)) return `listen.tls: no usable certificate and key (${code})`;
  return undefined;
}
