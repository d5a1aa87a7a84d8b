import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { type ApiClient, createApiClient } from '../clients/api-client.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { bootstrapToken, type TestScope, testConfig } from './gateway.ts';
import { mainFile } from './main-file.ts';
import { spawnNode } from './node-process.ts';
import { createSecretWatch } from './secret-watch.ts';

/** A gateway that is a process of its own. */
export interface GatewayProcess {
  readonly port: number;
  readonly managementPort: number;
  readonly folder: string;
  /** Its process id while it runs; null once it has ended. */
  readonly pid: number | null;
  readonly configFile: string;
  /** Every line of its log so far, parsed. */
  logLines(): Record<string, unknown>[];
  /** Writes its configuration anew, as `config` of the start would have it. */
  configure(config: object): void;
  readonly api: ApiClient;
  /** Ends it by SIGTERM and gives the exit code; also done at the end of the test. */
  stop(): Promise<number | null>;
  /** Ends it by SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** Waits until it has ended by a signal that was not sent from here. */
  killed(): Promise<void>;
}

const listening = /listening on https?:\/\/127\.0\.0\.1:(\d+), management on http:\/\/127\.0\.0\.1:(\d+)/;

/**
 * Starts `postern serve` on free ports. `folder`: that of another gateway, to share its stores; `program`: how
 * Postern is called, if not from its sources; `logFile`: where its log goes, by default to a file in the folder. At the end of the test its log, what it printed and every error body are searched for secrets.
 */
export async function startGatewayProcess(
  t: TestScope,
  options: {
    readonly config?: object;
    readonly folder?: string;
    readonly program?: readonly [string, ...string[]];
    readonly logFile?: string;
  } = {},
): Promise<GatewayProcess> {
  const folder = options.folder ?? makeTemporaryFolder('postern-test-');
  const name = join(folder, `process-${process.hrtime.bigint()}`);
  const logFile = options.logFile ?? `${name}.log`;
  const configFile = `${name}.yaml`;
  const configure = (config?: object) =>
    writeFileSync(configFile, stringify(testConfig('builtin:echo', config)));
  configure(options.config);
  const log = openSync(logFile, 'w');
  const serve = ['serve', '--config', configFile];
  const stdio: StdioOptions = ['ignore', log, 'pipe'];
  const [program, ...before] = options.program ?? [];
  const child =
    program === undefined
      ? spawnNode([mainFile, ...serve], { stdio })
      : spawn(program, [...before, ...serve], { stdio });
  closeSync(log);
  const secrets = createSecretWatch();
  secrets.add(bootstrapToken);
  const printed: string[] = [];
  let isStopping = false;
  const end = (signal: NodeJS.Signals) => {
    if (!isStopping && hasEnded(child))
      throw new Error(`it ended by itself (${child.exitCode ?? child.signalCode}): ${printed.join('\n')}`);
    isStopping = true;
    return endProcess(child, signal);
  };
  const stop = () => end('SIGTERM');
  t.teardown(async () => {
    await stop();
    for (const line of printed) secrets.addPublicText(line);
    const leaks = secrets.leaks(logFile);
    if (leaks.length > 0) throw new Error(`${leaks.length} secrets in the log or in an error body`);
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  });
  const { port, managementPort } = await portsOf(child, printed);
  const kill = async () => void (await end('SIGKILL'));
  return {
    port,
    managementPort,
    folder,
    get pid() {
      return hasEnded(child) ? null : child.pid!;
    },
    configFile,
    logLines: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    configure,
    api: createApiClient(port, secrets),
    stop,
    kill,
    async killed() {
      isStopping = true;
      if (!hasEnded(child)) await once(child, 'exit');
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!hasEnded(child)) {
    child.kill(signal);
    await once(child, 'exit');
  }
  return child.exitCode;
}

/** The ports it says it listens on; every line it prints is kept. */
function portsOf(child: ChildProcess, printed: string[]) {
  return new Promise<{ port: number; managementPort: number }>((resolve, reject) => {
    child.once('close', (code) => reject(new Error(`exit ${code}: ${printed.join('\n')}`)));
    createInterface({ input: child.stderr! }).on('line', (line) => {
      printed.push(line);
      const [, port, managementPort] = listening.exec(line) ?? [];
      if (port !== undefined) resolve({ port: Number(port), managementPort: Number(managementPort) });
    });
  });
}
