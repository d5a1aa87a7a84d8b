import { unwatchFile, watchFile } from 'node:fs';
import { formatProblem } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import type { RunningGateway } from '../running-gateway.ts';
import type { Call } from './command.ts';
import { type ReadConfig, readConfig } from './configuration.ts';

/** How often files are looked at, ms; by what their paths lead to, so that a swapped symbolic link counts too. */
const lookIntervalMs = 1_000;
/** How long after a change it is read, ms: several files may be on their way. */
const settleMs = 200;

/**
 * Reads the configuration again on SIGHUP and whenever one of its files changes: itself, the files its values come from,
 * and those of TLS towards upstreams. An invalid one is reported, and the running one stays.
 */
export function reloadOnChange(call: Call, read: ReadConfig, gateway: RunningGateway): void {
  let watched: readonly string[] = [];
  let settling: NodeJS.Timeout | undefined;
  let underway: Promise<void> = Promise.resolve();

  function watch(next: ReadConfig): void {
    const files = filesOf(next, watched);
    for (const file of watched) if (!files.includes(file)) unwatchFile(file, onChange);
    for (const file of files)
      if (!watched.includes(file)) watchFile(file, { interval: lookIntervalMs, persistent: false }, onChange);
    watched = files;
  }

  function onChange(): void {
    clearTimeout(settling);
    settling = setTimeout(reload, settleMs);
    settling.unref();
  }

  function reload(): void {
    underway = underway.then(reloadNow);
  }

  async function reloadNow(): Promise<void> {
    const next = readConfig(call);
    watch(next);
    if (next.config === undefined) {
      gateway.reloadFailed(next.problems.map((problem) => formatProblem(next.file, problem)));
      return;
    }
    try {
      await gateway.reload(next.config);
    } catch (error) {
      gateway.reloadFailed([error instanceof Error ? error.message : String(error)]);
    }
  }

  watch(read);
  call.terminal.on('SIGHUP', reload);
}

/** What a configuration is made of; one that can't be read is looked for where it and its files were. */
function filesOf({ sources, config }: ReadConfig, before: readonly string[]): readonly string[] {
  const files = config === undefined ? before : upstreamFiles(config);
  return [...new Set([...sources, ...files])];
}

function upstreamFiles({ upstreams }: Config): string[] {
  return Object.values(upstreams)
    .flatMap(({ tls }) => [tls?.ca, tls?.cert, tls?.key])
    .filter((file) => file !== undefined);
}
