import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { ManagedProblems } from '../../administration/managed.ts';
import type { Config } from '../../config/sections/schema.ts';
import { isLoopbackHost } from '../../config/values/addresses.ts';
import { createLineWriter, type LineWriter } from '../../log/line-writer.ts';
import { createLog, type Log } from '../../log/log.ts';
import { hostAndPort } from '../../proxy/upstream-failure.ts';
import { exitOnUncaught } from '../../serve/exit-on-uncaught.ts';
import type { RunningGateway } from '../../serve/running-gateway.ts';
import { keepMemoryLow } from '../../workers/process-memory.ts';
import { type Call, Failure } from '../command.ts';
import {
  findingsFailure,
  foundFile,
  ownFile,
  type ReadConfig,
  readConfig,
  requireConfig,
  requireServableConfig,
} from '../configuration.ts';
import { commandIn } from '../setup/installation.ts';
import type { Trial } from '../setup/trial.ts';
import { activationAddress, type GatewayUrls, quickstartLines, trialLines } from './quickstart-lines.ts';
import { ConfigurationWatch, fileFailureOf, logWarnings } from './reload.ts';

/** `serve`: runs the gateway until `stopRequested` resolves, then drains it; returns at once if it is still starting. */
export async function serve(call: Call, stopRequested: Promise<void>): Promise<void> {
  const isTrial = call.text('upstream') !== undefined;
  if (!isTrial && call.text('listen') !== undefined)
    throw new Failure('usage', '--listen goes with --upstream: a configuration has the key listen');
  const trial = isTrial ? await (await import('../setup/trial.ts')).prepareTrial(call) : undefined;
  const readAgain = trial?.read ?? (() => readConfig(call, [ownFile]));
  const read = readAgain();
  const config = requireServableConfig(read, call.creates);
  const writer = createLineWriter(1);
  const log = createLog({ ...config.log, writer, isTerminal: call.terminal.stdout.isTTY });
  exitOnUncaught(call.terminal, log);
  // The configuration of a trial isn't the user's.
  if (!isTrial) logWarnings(read, log);
  const watch = new ConfigurationWatch(call, readAgain, read, log);
  const startBy = (next: ReadConfig) => start(call, next, requireConfig(next), { log, writer });
  const starting = trial === undefined ? startBy(read) : startTrial(trial, startBy);
  const gateway = await Promise.race([starting, stopRequested]);
  if (gateway === undefined) return;
  watch.applyTo(gateway);
  keepMemoryLow();
  // The ports of a trial may be others by now.
  const begun = trial === undefined ? config : requireConfig(trial.read());
  const lines = announcement(call, begun, gateway, trial?.notices);
  call.terminal.stderr.write(`${lines.join('\n')}\n`);
  await stopRequested;
  tellOnTerminal(call, 'stopping; Ctrl-C again stops at once');
  const patience = setTimeout(() => tellOnTerminal(call, waitingText(config)), patienceMs);
  await gateway.stop();
  clearTimeout(patience);
  tellOnTerminal(call, 'stopped');
}

/** Time after which a person wonders what a stop is waiting for, ms. */
const patienceMs = 1_000;

function waitingText({ shutdown: { delay, timeout } }: Config): string {
  const seconds = Math.ceil((delay + timeout) / 1_000);
  return `waiting up to ${seconds} s for open requests and WebSockets; Ctrl-C again stops at once`;
}

/** Number of times that the ports of a trial are chosen again. */
const mostChoices = 5;

/** Starts a trial. Its ports were free a moment ago; if another process has taken one in the meantime, others are chosen. */
async function startTrial(
  trial: Trial,
  startBy: (read: ReadConfig) => Promise<RunningGateway>,
): Promise<RunningGateway> {
  for (let choices = 0; ; choices++) {
    try {
      return await startBy(trial.read());
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' || choices === mostChoices) throw error;
      await trial.choosePorts();
    }
  }
}

/** Writes to standard error only for people at a terminal: a service manager has the log and the exit code. */
function tellOnTerminal({ terminal }: Call, text: string): void {
  if (terminal.stderr.isTTY) terminal.stderr.write(`postern: ${text}\n`);
}

async function start(
  call: Call,
  read: ReadConfig,
  config: Config,
  { log, writer }: { readonly log: Log; readonly writer: LineWriter },
): Promise<RunningGateway> {
  const options = { showsEchoPage: call.isSet('quickstart'), creates: call.creates };
  const count = workerCount(config);
  try {
    // Each is loaded only where it runs: a supervisor serves nothing.
    if (count === 1) {
      const { startGateway } = await import('../../serve/start-gateway.ts');
      return await startGateway(config, log, options);
    }
    const { startWorkers } = await import('../../workers/start-workers.ts');
    const { stdout, stderr } = call.terminal;
    return await startWorkers(config, log, {
      ...options,
      count,
      isTerminal: stdout.isTTY,
      outputs: { log: (lines) => writer.write(lines), errors: (lines) => stderr.write(lines) },
    });
  } catch (error) {
    if (error instanceof ManagedProblems) throw findingsFailure(read, error.findings);
    const sentence = fileFailureOf(error);
    if (sentence !== undefined) throw new Failure('configuration', `postern: ${sentence}`, error);
    throw listenFailureOf(error, config) ?? error;
  }
}

/** Number of processes that serve; `auto`: as many as there are CPUs that this process may use. */
export function workerCount({ workers }: Pick<Config, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers;
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  ENOTFOUND: 'no such host',
};

/** Failure for an address that can't be listened on, with its key in the configuration; undefined for any other error. */
function listenFailureOf(error: unknown, { listen, management }: Config): Failure | undefined {
  const { code = '', syscall, address, port } = error as NodeJS.ErrnoException & Partial<AddressInfo>;
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined;
  const reason = listenReasons[code] ?? code;
  if (address === undefined) return new Failure('failed', `can't listen: ${reason}`, error);
  const key = port === management.port && port !== listen.port ? 'management' : 'listen';
  const location = hostAndPort(address, port ?? 0);
  const cure =
    code === 'EADDRINUSE' ? `; stop what listens there, or choose another port with ${key}.port` : '';
  return new Failure('failed', `can't listen on ${location} (${key}): ${reason}${cure}`, error);
}

function announcement(
  call: Call,
  config: Config,
  gateway: RunningGateway,
  notices: readonly string[] = [],
): string[] {
  const { address, managementAddress, bootstrapToken } = gateway.opened;
  const { web, base_url: baseUrl } = config;
  const url = `${config.listen.tls === undefined ? 'http' : 'https'}://${textOf(address)}`;
  // The configuration can't name a port that the system chooses at the start.
  const urls = urlsOf(config, config.listen.port === 0 ? url : baseUrl);
  const file = call.text('upstream') === undefined ? foundFile(call, [ownFile]) : undefined;
  return [
    ...(file === undefined ? [] : [`postern: configuration: ${file}`]),
    `postern: listening on ${url}, management on http://${textOf(managementAddress)}`,
    ...(isTrialInNetwork(call, config) ? [unencrypted] : []),
    ...notices.map((notice) => `postern: ${notice}`),
    ...(web === undefined ? [] : pageLines(web, baseUrl)),
    ...(bootstrapToken === null ? [] : [`postern: bootstrap token: ${bootstrapToken}`]),
    ...beginning(call, urls, bootstrapToken),
  ];
}

const unencrypted =
  'postern: passwords and keys cross the network unencrypted: only for a network that you trust';

/** True for a trial that other machines can reach: there, plain http is no longer a matter of this machine alone. */
function isTrialInNetwork(call: Call, { listen }: Config): boolean {
  return call.text('upstream') !== undefined && !isLoopbackHost(listen.host);
}

/** Lines about the first steps with the gateway; for a first try, with commands to paste. */
function beginning(call: Call, urls: GatewayUrls, bootstrapToken: string | null): string[] {
  const credentials = { bootstrapToken, password: randomBytes(12).toString('hex') };
  if (call.isSet('quickstart')) return quickstartLines(urls, credentials);
  if (call.text('upstream') !== undefined)
    return trialLines(urls, credentials, commandIn(call.terminal.cwd(), call.terminal.env));
  const address = activationAddress(urls, bootstrapToken);
  return address === undefined ? [] : [`postern: create the first administrator at: ${address}`];
}

function urlsOf({ api_path: api, web }: Config, url: string): GatewayUrls {
  if (web === undefined) return { url, api, pages: null };
  const { path, home = `${path}/` } = web;
  return { url, api, pages: { start: home, activation: `${path}/activate` } };
}

/** Lines with the public addresses of the pages that people begin with. */
function pageLines({ path, console }: NonNullable<Config['web']>, baseUrl: string): string[] {
  const lines = [`postern: sign-in page: ${baseUrl}${path}/`];
  if (console !== undefined) lines.push(`postern: console: ${console.base_url ?? baseUrl}${path}/console/`);
  return lines;
}

function textOf({ address, port }: AddressInfo): string {
  return hostAndPort(address, port);
}
