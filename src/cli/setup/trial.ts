import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { loadConfigText } from '../../config/load.ts';
import type { ConfigProblem } from '../../config/report/problems.ts';
import { isLoopbackHost } from '../../config/values/addresses.ts';
import { parseUpstreamAddress } from '../../config/values/upstream-address.ts';
import { hostAndPort } from '../../proxy/upstream-failure.ts';
import { type Call, Failure } from '../command.ts';
import { type ReadConfig, trialFile } from '../configuration.ts';
import { problemOfFolder } from '../found-file.ts';
import {
  freePort,
  type ListenAddress,
  originOf,
  parseListenAddress,
  parseServiceAddress,
  portOfService,
  usedPort,
} from './addresses.ts';
import { configurationText, type Setup } from './configuration-text.ts';
import { type Asked, askForFile } from './served-file.ts';
import { createFile, replaceFile, temporaryName } from './write-file.ts';

/** Folder of a trial's data, in the current one. */
export const dataFolder = 'data';
/** Defaults of a first configuration. */
export const defaults = { tenant: 'main', host: '127.0.0.1', port: 8080, managementPort: 9090 } as const;

const heading = `# The last trial in this folder (postern serve --upstream). Commands in the folder above read this file while there is no
# postern.yaml; "postern init" writes one, on the same users and keys.
`;

/** A trial whose configuration is written. */
export interface Trial {
  /** Reads the configuration, as it is now. */
  readonly read: () => ReadConfig;
  /** Lines about the service, for the person who has started the trial. */
  readonly notices: readonly string[];
  /** Writes the configuration with other ports, because a process has taken one since. Rejects with Failure. */
  choosePorts(): Promise<void>;
}

/**
 * Prepares a trial in front of the service of `--upstream`: its configuration is written to `./data`, where commands find it.
 * Rejects with Failure, having written nothing, if the trial can't run.
 */
export async function prepareTrial(call: Call): Promise<Trial> {
  for (const other of ['config', 'quickstart'])
    if (call.text(other) !== undefined || call.isSet(other))
      throw new Failure('usage', `--upstream and --${other} exclude each other: ${exclusions[other]}`);
  const folder = call.terminal.cwd();
  const load = (text: string): ReadConfig => ({
    ...loadConfigText(text, join(folder, dataFolder), call.terminal.env),
    file: trialFile,
  });
  async function chosen(): Promise<{ readonly upstream: string; readonly text: string }> {
    const setup = await trialSetup(call, folder);
    const text = `${heading}${configurationText(setup)}`;
    const { problems = [] } = load(text);
    if (problems.length > 0) throw new Failure('usage', problems.map(sentenceOf).join('; '));
    return { upstream: setup.upstream, text };
  }
  let { upstream, text } = await chosen();
  const asked = await write(folder, text, upstream);
  return {
    read: () => load(text),
    notices:
      asked === 'absent' ? [`${upstream} can't be reached: requests are 502 until the service is there`] : [],
    async choosePorts() {
      ({ upstream, text } = await chosen());
      replaceFile(join(folder, trialFile), text, 0o600);
    },
  };
}

const exclusions: Readonly<Record<string, string>> = {
  config: 'a trial has no file; "postern init" writes one',
  quickstart: 'a trial prints where to begin anyway',
};

async function trialSetup(call: Call, folder: string): Promise<Setup> {
  const upstream = parsed('upstream', () => parseServiceAddress(call.requireText('upstream'), folder));
  const wanted = parsed('listen', () =>
    parseListenAddress(call.text('listen') ?? String(defaults.port), defaults.host),
  );
  const service = portOfService(upstream);
  const listen = { ...wanted, port: service === wanted.port ? wanted.port : await listenPort(wanted) };
  const taken = [listen.port, ...(service === undefined ? [] : [service])];
  const baseUrl = originOf(listen);
  return {
    tenant: defaults.tenant,
    baseUrl,
    listen,
    management: {
      host: defaults.host,
      port: await freePort(defaults.host, defaults.managementPort, taken),
    },
    upstream,
    title: titleOf(upstream),
    console: baseUrl,
    folder: '',
  };
}

/** Runs a parser of an option's text; a RangeError becomes Failure `usage`. */
export function parsed<T>(option: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure('usage', `--${option} ${error.message}`, error);
  }
}

/** The title of pages in front of an upstream: its host and port, if they tell people more than that it is on this machine. */
export function titleOf(upstream: string): string {
  const address = parseUpstreamAddress(upstream);
  return address.kind === 'server' && !isLoopbackHost(address.host) ? address.authority : 'My service';
}

/** The port to listen on. It is tried before anything is written: another trial in this folder may be running on it. */
async function listenPort(address: ListenAddress): Promise<number> {
  try {
    return await usedPort(address);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'the address is in use' : `${code}`;
    const cure = 'choose another one with --listen [HOST:]PORT';
    throw new Failure(
      'failed',
      `can't listen on ${hostAndPort(address.host, address.port)}: ${reason}; ${cure}`,
    );
  }
}

/** Options that the values of a trial come from, by the beginning of the key. */
const optionsOfKeys = { upstreams: '--upstream', listen: '--listen', base_url: '--listen' };

function sentenceOf({ key, rule }: ConfigProblem): string {
  const option = Object.entries(optionsOfKeys).find(([start]) => key.startsWith(start))?.[1] ?? key;
  const cure = rule.includes('own address') ? '; --listen [HOST:]PORT has Postern listen elsewhere' : '';
  return `${option} ${rule}${cure}`;
}

async function write(folder: string, text: string, upstream: string): Promise<Asked> {
  const data = join(folder, dataFolder);
  const problem = problemOfFolder(data);
  if (problem !== undefined)
    throw new Failure(
      'failed',
      `./${dataFolder} ${problem}, and a trial keeps its data there: start Postern in another folder`,
    );
  try {
    // As the stores make it.
    const isNew = mkdirSync(data, { recursive: true, mode: 0o700 }) !== undefined;
    const temporary = temporaryName(join(folder, trialFile));
    try {
      createFile(temporary, text, 0o600);
      const asked = await requirePrivate(upstream, resolve(folder, temporary), text);
      if (isNew) createFile(join(data, '.gitignore'), '*\n', 0o600);
      renameSync(temporary, join(folder, trialFile));
      return asked;
    } catch (error) {
      rmSync(temporary, { force: true });
      if (isNew) rmSync(data, { recursive: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new Failure(
      'failed',
      `${trialFile} can't be written (${code}): a trial keeps its data in ./data`,
      error,
    );
  }
}

/** Rejects with Failure if the service serves a file that was just written: everyone could get the keys of a trial from it. */
async function requirePrivate(upstream: string, file: string, text: string): Promise<Asked> {
  const asked = await Promise.all(placesOf(file).map((path) => askForFile(upstream, path, text)));
  if (!asked.includes('served')) return asked[0]!;
  throw new Failure(
    'failed',
    `${upstream} serves the files of this folder, where a trial would keep its users and keys: start Postern in another folder`,
  );
}

/** Number of folders, from the trial's own upwards, of which any may be the one that the service serves. */
const mostFoldersServed = 8;

/** Paths under which a service would serve a file of `data`, by the folder that it serves, the trial's own first. */
function placesOf(file: string): string[] {
  const parts = file.split(sep).slice(1).map(encodeURIComponent);
  const counts = parts.map((_, index) => index + 1).slice(1, mostFoldersServed + 1);
  return counts.map((count) => `/${parts.slice(-count).join('/')}`);
}
