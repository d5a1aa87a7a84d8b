import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import { isRunning, resumeFamily, signalEach, stopFamily } from '../gateway/process-family.ts';
import { postgresSpawnOptions } from './postgres-programs.ts';

/** A child that began just as its server was killed lives until it notices, and keeps the next server from starting. */
const orphanTimeoutMs = 30_000;

/** A postmaster with its children, started and ended any number of times. */
export interface PostgresProcess {
  /** Of the postmaster; null while it isn't running. */
  readonly pid: number | null;
  /** Resolves when `isUp` no longer throws. Rejects with its output when it ends before. */
  start(isUp: () => Promise<unknown>): Promise<void>;
  /** Pauses it and its children. */
  pause(): void;
  resume(): void;
  /**
   * Ends it, if it is running, paused or not: at once as a crash would, without a checkpoint, or in an orderly way
   * without waiting for clients.
   */
  end(how: 'crash' | 'immediate' | 'fast'): Promise<void>;
}

/**
 * Creates it; its data are in `<folder>/data`, `<folder>/postgres.log` gets the output of the last start, and `env` is
 * added to its environment.
 */
export function createPostgresProcess(
  program: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): PostgresProcess {
  const data = join(folder, 'data');
  const logFile = join(folder, 'postgres.log');
  let child: ChildProcess | null = null;
  const pidOf = () => child?.pid ?? null;

  /** Its output, if it ended before `isUp` no longer threw; null otherwise. */
  async function startOnce(isUp: () => Promise<unknown>): Promise<string | null> {
    const log = openSync(logFile, 'w');
    const options = postgresSpawnOptions();
    const started = spawn(program, ['-D', data], {
      ...options,
      env: { ...options.env, ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child = started;
    started.once('exit', () => {
      if (child === started) child = null;
    });
    await eventually('a response or an end', async () => {
      if (child === started) await isUp();
      return true;
    });
    return child === started ? null : readFileSync(logFile, 'utf8');
  }

  return {
    get pid() {
      return pidOf();
    },
    async start(isUp) {
      for (const deadline = Date.now() + orphanTimeoutMs; ; await sleep(50)) {
        const output = await startOnce(isUp);
        if (output === null) return;
        const hasOrphan = output.includes('pre-existing shared memory block');
        if (!hasOrphan || Date.now() > deadline) throw new Error(output);
      }
    },
    pause() {
      const pid = pidOf();
      if (pid !== null) stopFamily(pid);
    },
    resume() {
      const pid = pidOf();
      if (pid !== null) resumeFamily(pid);
    },
    async end(how) {
      const pid = pidOf();
      if (child === null || pid === null) return;
      const ended = once(child, 'exit');
      if (how === 'crash') {
        const family = stopFamily(pid);
        signalEach(family, 'SIGKILL');
        await ended;
        await eventually('the end of its children', () => !family.some(isRunning));
        removeSharedMemory(data);
      } else {
        child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
        resumeFamily(pid);
        await ended;
      }
    },
  };
}

/** A machine has a limited number of System V segments, and they remain when a server is killed and never restarted. */
function removeSharedMemory(data: string): void {
  const line = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[6];
  const id = line?.trim().split(/ +/)[1];
  if (id !== undefined) spawnSync('ipcrm', ['-m', id], { stdio: 'ignore' });
}
