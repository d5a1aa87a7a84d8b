import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { testConfig } from '../../support/gateway/gateway.ts';
import { guardProcess } from '../../support/gateway/guarded-process.ts';
import { workersOf } from '../../support/gateway/worker-processes.ts';
import { guessPort } from '../../support/servers/loopback-port.ts';
import { type Answered, type Call, call } from './call.ts';
import type { MovableClock } from './clock.ts';

/** A gateway of the run: a process that is killed and comes back on the same port. */
export interface ModelGateway {
  readonly index: number;
  readonly pid: number | null;
  readonly clock: MovableClock | null;
  send(sent: Call): Promise<Answered>;
  /** Resolves once it listens. Rejects with what it printed if it ends first. */
  start(): Promise<void>;
  /** Ends it by SIGKILL, paused or not. */
  kill(): Promise<void>;
  /** Whether it has several processes, one of which can be killed alone. */
  readonly hasWorkers: boolean;
  /** Ends one of its workers by SIGKILL; which, `pick` says of them. */
  killWorker(pick: (pids: readonly number[]) => number): void;
  /** Stops every process of it for a while. */
  pause(): void;
  resume(): void;
  /** Ends it by SIGTERM; gives its exit code. */
  stop(): Promise<number | null>;
  /** What it printed when it ended by itself; null if it never did. */
  readonly ownEnd: string | null;
  /** Lines of its log, of all its lives, that no run may have. */
  alarms(): string[];
}

/** Sections that replace those of the configuration of the tests. */
export interface GatewayConfig {
  readonly [section: string]: unknown;
  /** How many processes serve; 1 by default. */
  readonly workers?: number;
}

/** One text of its sources that is replaced in a gateway, so that it breaks a promise. */
export interface Break {
  /** From the root of the repository. */
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

const breaking = join(import.meta.dirname, 'breaking.ts');
const main = join(import.meta.dirname, '../../../src/main.ts');
/** An exception that nobody expected, in a handler or outside of any. */
const alarm = /"msg":"(?:internal error|[^"]*(?:unhandled|uncaught)[^"]*)"|"status":500\b/i;

/** Makes it; `config` replaces whole sections of the configuration of the tests, `workers` among them. */
export function createGateway(
  index: number,
  folder: string,
  config: GatewayConfig,
  { clock, broken }: { readonly clock: MovableClock | null; readonly broken?: Break | undefined },
): ModelGateway {
  const name = join(folder, `gateway-${index}`);
  let port = 0;
  let child: ChildProcess | null = null;
  let isEnding = false;
  let ownEnd: string | null = null;

  async function startOn(candidate: number): Promise<void> {
    const listen = { listen: { port: candidate }, management: { host: '127.0.0.1', port: 0 } };
    writeFileSync(`${name}.yaml`, stringify(testConfig('builtin:echo', { ...config, ...listen })));
    const log = openSync(`${name}.log`, 'a');
    const node = ['-u', 'NODE_OPTIONS', process.execPath, ...(broken ? ['--import', breaking] : [])];
    const args = [...node, main, 'serve', '--config', `${name}.yaml`];
    const toBreak = broken && { POSTERN_TEST_BREAK: JSON.stringify(broken) };
    const env = { ...process.env, ...clock?.env, ...toBreak };
    const started = spawn('env', args, { env, stdio: ['ignore', log, 'pipe'] });
    closeSync(log);
    guardProcess(started);
    child = started;
    isEnding = false;
    const printed: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: started.stderr! }).on('line', (line) => {
        printed.push(line);
        if (line.includes('listening on')) resolve();
      });
      started.once('exit', (code, signal) => {
        if (child === started) child = null;
        const text = `gateway ${index} ended by itself (${code ?? signal}): ${printed.join('\n')}`;
        if (!isEnding) ownEnd ??= text;
        reject(new Error(text));
      });
    });
    port = candidate;
  }

  const end = async (signal: NodeJS.Signals) => {
    const ending = child;
    if (ending === null) return null;
    isEnding = true;
    const ended = once(ending, 'exit');
    const workers = workersOf(ending.pid!);
    ending.kill(signal);
    // Paused or not: without their supervisor, workers drain and end.
    signalAll([ending.pid!, ...workers], 'SIGCONT');
    await ended;
    return ending.exitCode;
  };

  const processes = () => (child === null ? [] : [child.pid!, ...workersOf(child.pid!)]);

  return {
    index,
    clock,
    get pid() {
      return child?.pid ?? null;
    },
    get ownEnd() {
      return ownEnd;
    },
    send: (sent) => call(port, sent),
    async start() {
      if (port !== 0) return startOn(port);
      for (let tries = 1; ; tries++) {
        try {
          return await startOn(guessPort());
        } catch (error) {
          if (!/EADDRINUSE|in use/.test((error as Error).message) || tries === 5) throw error;
          ownEnd = null;
        }
      }
    },
    kill: async () => void (await end('SIGKILL')),
    hasWorkers: (config.workers ?? 1) > 1,
    killWorker(pick) {
      const workers = child === null ? [] : workersOf(child.pid!);
      if (workers.length > 0) signalAll([pick(workers)], 'SIGKILL');
    },
    pause: () => signalAll(processes(), 'SIGSTOP'),
    resume: () => signalAll(processes(), 'SIGCONT'),
    stop: () => end('SIGTERM'),
    alarms: () =>
      readFileSync(`${name}.log`, 'utf8')
        .split('\n')
        .filter((line) => alarm.test(line)),
  };
}

/** Those that are still there get the signal. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}
