import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { stringify } from 'yaml';
import type { Terminal } from '../../../src/cli/command.ts';
import { run } from '../../../src/cli/run.ts';
import { type ApiClient, createApiClient } from '../clients/api-client.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { type TestScope, testConfig } from './gateway.ts';
import { mainFile } from './main-file.ts';
import { spawnNode } from './node-process.ts';
import { createSecretWatch } from './secret-watch.ts';

/** What a command came to. */
export interface CommandResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON; throws when it is none. */
  readonly json: any;
  /** The audit lines on standard error. */
  readonly audit: readonly any[];
}

export interface CommandOptions {
  /** Standard input; empty by default. A stream stands for a terminal, on which it is typed. */
  readonly input?: string | Buffer | Readable;
  readonly env?: Record<string, string>;
  /** Default: the folder of the tests. */
  readonly cwd?: string;
}

/** A `postern serve` that runs as a process of its own. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly port: number;
  readonly managementPort: number;
  readonly api: ApiClient;
  /** What it has printed so far. */
  printed(): { readonly stdout: string; readonly stderr: string };
  /** Resolves when it has ended. */
  readonly ended: Promise<CommandResult>;
}

/** A folder with a configuration and stores, and commands that work on them. */
export interface CommandFolder {
  readonly folder: string;
  readonly configFile: string;
  /** Runs `postern <args> --config …` to its end; see {@link runPostern}. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Starts `postern serve <args> --config …`; `nodeArgs` go to Node itself. It is killed at the end of the test. */
  serve(args?: readonly string[], nodeArgs?: readonly string[]): Promise<ServeProcess>;
}

const listening =
  /^postern: listening on http:\/\/127\.0\.0\.1:(\d+), management on http:\/\/127\.0\.0\.1:(\d+)$/m;

/** Makes the folder; `config` replaces whole sections of the configuration of the tests. */
export function createCommandFolder(
  t: TestScope,
  config: object = {},
  upstreamUrl = 'builtin:echo',
): CommandFolder {
  const folder = makeTemporaryFolder('postern-cli-');
  const configFile = join(folder, 'postern.yaml');
  writeFileSync(configFile, stringify(testConfig(upstreamUrl, config)));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    configFile,
    run: (args, options) => runPostern([...args, '--config', configFile], options),
    serve: (args = [], nodeArgs = []) =>
      untilListening(t, startPostern(['serve', ...args, '--config', configFile], { nodeArgs })),
  };
}

/** Waits until a gateway listens; it is killed at the end of the test. */
export async function untilListening(t: TestScope, started: StartedCommand): Promise<ServeProcess> {
  t.teardown(async () => {
    started.child.kill('SIGKILL');
    await started.ended;
  });
  const [port, managementPort] = await portsOf(started);
  return { ...started, port, managementPort, api: createApiClient(port, createSecretWatch()) };
}

/**
 * Runs `postern <args>` to its end, in this process: a start of Node takes far longer than most commands. Only `serve` is a
 * process of its own, for one that fails to start leaves its handles to the end of the process.
 */
export async function runPostern(
  args: readonly string[],
  { input = '', env = {}, cwd = process.cwd() }: CommandOptions = {},
): Promise<CommandResult> {
  if (args[0] === 'serve') return startPostern(args, { env, cwd }).ended;
  const stdout = collect();
  const stderr = collect();
  const isTTY = input instanceof Readable;
  const terminal = {
    stdin: isTTY ? Object.assign(input, { isTTY }) : Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: Object.assign(stdout.stream, { isTTY }),
    stderr: Object.assign(stderr.stream, { isTTY }),
    env: { ...process.env, ...env },
    cwd: () => cwd,
    // No signal arrives.
    on: () => {},
  };
  const code = await run(args, terminal as unknown as Terminal);
  return resultOf(code, stdout.text(), stderr.text());
}

/** A stream that keeps what is written. */
function collect() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

/** A command that was started. */
export type StartedCommand = Pick<ServeProcess, 'child' | 'printed' | 'ended'>;

/** Starts `postern <args>`; `nodeArgs` go to Node itself. */
export function startPostern(
  args: readonly string[],
  {
    nodeArgs = [],
    env = {},
    cwd = process.cwd(),
  }: Omit<CommandOptions, 'input'> & { readonly nodeArgs?: readonly string[] } = {},
): StartedCommand {
  return watchCommand(spawnNode([...nodeArgs, mainFile, ...args], { env: { ...process.env, ...env }, cwd }));
}

/** Reads what a command prints that was started some other way. */
export function watchCommand(child: ChildProcess): StartedCommand {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(() => resultOf(child.exitCode, stdout, stderr));
  return { child, ended, printed: () => ({ stdout, stderr }) };
}

function resultOf(code: number | null, stdout: string, stderr: string): CommandResult {
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
    get audit() {
      return stderr
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    },
  };
}

async function portsOf({ child, ended, printed }: StartedCommand): Promise<[number, number]> {
  const failed = ended.then(({ code, stderr }) => {
    throw new Error(`serve ended with ${code}: ${stderr}`);
  });
  // Whoever has the ports already doesn't mind how it ends.
  failed.catch(() => {});
  for (;;) {
    const [, port, managementPort] = listening.exec(printed().stderr) ?? [];
    if (port !== undefined) return [Number(port), Number(managementPort)];
    await Promise.race([once(child.stderr!, 'data'), failed]);
  }
}
