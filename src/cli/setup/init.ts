import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { loadConfigText } from '../../config/load.ts';
import { decodeUtf8 } from '../../config/report/outside-values.ts';
import { type ConfigProblem, formatProblem } from '../../config/report/problems.ts';
import { parseYaml } from '../../config/report/syntax.ts';
import { configSchema } from '../../config/sections/schema.ts';
import { isLoopbackHost } from '../../config/values/addresses.ts';
import { type Call, Failure } from '../command.ts';
import { ownFile, trialFile } from '../configuration.ts';
import { readFoundFile } from '../found-file.ts';
import { printResult } from '../terminal.ts';
import {
  freePort,
  type ListenAddress,
  originOf,
  parseListenAddress,
  parseServiceAddress,
  portOfService,
} from './addresses.ts';
import { accessScope, configurationText, type Setup } from './configuration-text.ts';
import { commandIn, installedFolder, pathFrom, schemaFile } from './installation.ts';
import { type Ask, asking, type Question } from './questions.ts';
import { dataFolder, defaults, parsed, titleOf } from './trial.ts';
import { createFile, replaceFile } from './write-file.ts';

/** Values of a trial that a configuration can take over. */
type Trial = Pick<Setup, 'baseUrl' | 'upstream' | 'title'> & { readonly management: ListenAddress };

/** `init`: writes `./postern.yaml` from options, and from what a person at a terminal answers. */
export async function initialise(call: Call): Promise<void> {
  const { terminal } = call;
  const folder = terminal.cwd();
  if (call.text('config') !== undefined)
    throw new Failure(
      'usage',
      `init writes ./${ownFile}, without --config: change to the folder it belongs in`,
    );
  if (existsSync(join(folder, ownFile)) && !call.isSet('force'))
    throw new Failure('failed', `${ownFile} is there already: --force overwrites it`);
  const trial = trialIn(folder);
  const isAtTerminal = Boolean(terminal.stdin.isTTY && terminal.stderr.isTTY);
  if (!isAtTerminal && call.text('upstream') === undefined && trial === undefined)
    throw new Failure('usage', 'init needs --upstream ADDRESS, or a terminal to ask on');
  const setup = isAtTerminal
    ? await asking(terminal, (ask) => setupFrom(call, trial, ask))
    : await setupFrom(call, trial, takePreset);
  const text = `${headOf(folder)}${configurationText(setup)}`;
  const { problems = [], warnings = [] } = loadConfigText(text, folder, terminal.env);
  if (problems.length > 0) throw new Failure('usage', problems.map(sentenceOf).join('; '));
  write(join(folder, ownFile), text, call.isSet('force'));
  for (const warning of warnings) terminal.stderr.write(`${formatProblem(ownFile, warning, 'warning: ')}\n`);
  await printResult(call, { file: ownFile }, nextSteps(call, folder).join('\n'));
}

/** Answers for no one: the text that an empty line stands for. */
const takePreset: Ask = async ({ preset = '', parse }) => parse(preset);

async function setupFrom(call: Call, trial: Trial | undefined, ask: Ask): Promise<Setup> {
  const folder = call.terminal.cwd();
  /** The value of an option if it was given, else of the answer. */
  const answerTo = async <T>(option: string, question: Question<T>): Promise<T> => {
    const given = call.text(option);
    return given === undefined ? ask(question) : parsed(option, () => question.parse(given));
  };
  const listenTo = (host: string) => (text: string) => parseListenAddress(text, host);

  const upstream = await answerTo('upstream', {
    prompt: 'Service to protect, such as :9000',
    ...(trial !== undefined && { preset: trial.upstream }),
    parse: (text) => parseServiceAddress(text, folder),
  });
  const given = call.text('listen');
  const firstUrl =
    given === undefined
      ? (trial?.baseUrl ?? originOf(defaults))
      : originOf(parsed('listen', () => listenTo(defaults.host)(given)));
  const baseUrl = await answerTo('base-url', {
    prompt: 'Address for browsers and programs',
    preset: firstUrl,
    parse: parseOrigin,
  });
  const preset = listenerOf(baseUrl);
  const listen = await answerTo('listen', {
    prompt: baseUrl.startsWith('https:') ? 'Listen on, behind a proxy with the certificate' : 'Listen on',
    preset: written(preset),
    parse: listenTo(preset.host),
  });
  const console = await consoleOf(call, baseUrl, answerTo);
  const tenant = await answerTo('tenant', {
    prompt: 'Name of this instance',
    preset: defaults.tenant,
    parse: (text) => parseBy(configSchema.shape.tenant, text),
  });
  const title = await answerTo('title', {
    prompt: 'Title of the sign-in page',
    preset: trial?.title ?? titleOf(upstream),
    parse: requireTitle,
  });
  const taken = [listen.port, portOfService(upstream) ?? 0];
  const port = trial?.management.port ?? (await freePort(defaults.host, defaults.managementPort, taken));
  const management = { host: defaults.host, port };
  return { tenant, baseUrl, listen, management, upstream, title, console, folder: `${dataFolder}/` };
}

type AnswerTo = <T>(option: string, question: Question<T>) => Promise<T>;

/**
 * The origin of the console, if there is one: for an address on this machine, unless the option says otherwise, a name of its own
 * on this machine; for any other address only an origin that is given.
 */
async function consoleOf(call: Call, baseUrl: string, answerTo: AnswerTo): Promise<string | null> {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (isLoopbackHost(hostname) && call.text('console') === undefined)
    return `${protocol}//console.localhost${port === '' ? '' : `:${port}`}`;
  return answerTo('console', {
    prompt: 'Console at a name of its own, such as https://console.example.com',
    preset: 'none',
    parse: (text) => (text === 'none' ? null : parseOrigin(text)),
  });
}

/** The listener that a base URL suggests: its own port, or one behind a proxy that has the certificate. */
function listenerOf(baseUrl: string): ListenAddress {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol === 'https:') return { host: defaults.host, port: defaults.port };
  const host = isLoopbackHost(hostname) ? hostname.replace(/^\[(.*)\]$/, '$1') : '0.0.0.0';
  return { host, port: Number(port || 80) };
}

function written({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parseOrigin(text: string): string {
  return parseBy(configSchema.shape.base_url, text);
}

function requireTitle(text: string): string {
  if (text === '' || /\p{Cc}/u.test(text)) throw new RangeError('must be text without control characters');
  return text;
}

/** Parses by the schema of a key; throws a RangeError whose message is the broken rule. */
function parseBy(
  schema: typeof configSchema.shape.tenant | typeof configSchema.shape.base_url,
  text: string,
) {
  const { data, error } = schema.safeParse(text);
  if (data === undefined) throw new RangeError(error?.issues[0]?.message ?? 'is unusable');
  return data;
}

/** Values of a trial's file, as written: `{ env: NAME }` and `{ file: PATH }` aren't values of a trial. */
const trialSchema = z.object({
  base_url: configSchema.shape.base_url,
  management: configSchema.shape.management,
  upstreams: z.object({ app: z.object({ url: z.string() }) }),
  web: z.object({ title: z.string() }),
});

function trialIn(folder: string): Trial | undefined {
  const bytes = readFoundFile(folder, trialFile, { cure: 'run init in another folder' });
  const { document, isReadable } = parseYaml((bytes && decodeUtf8(bytes)) ?? '');
  if (!isReadable) return undefined;
  try {
    const { base_url: baseUrl, management, upstreams, web } = trialSchema.parse(document.toJS());
    const upstream = parseServiceAddress(upstreams.app.url, join(folder, dataFolder));
    return { baseUrl, upstream, title: requireTitle(web.title), management };
  } catch {
    // There was none, or someone has changed it so that it can't be taken over.
    return undefined;
  }
}

/** The first lines of the file: the schema for editors, from this installation, and where the keys are explained. */
function headOf(folder: string): string {
  const installed = installedFolder();
  const linesFor = (file: string, text: string) =>
    installed !== undefined && existsSync(join(installed, file))
      ? [`# ${text}${pathFrom(folder, join(installed, file))}`]
      : [];
  return [
    ...linesFor(schemaFile, 'yaml-language-server: $schema='),
    '# Written by "postern init". "postern check" names mistakes; a running gateway reads this file again when it changes.',
    ...linesFor('config/reference.yaml', 'Every key, with its default: '),
    '',
  ].join('\n');
}

const optionsOfKeys = {
  upstreams: '--upstream',
  listen: '--listen',
  base_url: '--base-url',
  'web.console': '--console',
};

function sentenceOf({ key, rule }: ConfigProblem): string {
  const option = Object.entries(optionsOfKeys).find(([start]) => key.startsWith(start))?.[1];
  return `${option ?? key} ${rule}`;
}

function write(file: string, text: string, overwrites: boolean): void {
  try {
    // The user that serves must be able to read it, even if another one writes it.
    (overwrites ? replaceFile : createFile)(file, text, 0o644);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new Failure('failed', `${file} can't be written (${code})`, error);
  }
}

function nextSteps({ terminal }: Call, folder: string): string[] {
  const postern = commandIn(folder, terminal.env);
  const hasData = existsSync(join(folder, dataFolder, 'postern.db'));
  const steps = [
    ['serve', 'start, and be told where to begin'],
    [`user add NAME --scopes ${accessScope}`, 'add a user'],
    ['check', 'look for mistakes after a change'],
    ['backup FILE', `copy the users and keys in ./${dataFolder}`],
  ].map(([command, what]) => [`${postern} ${command}`, what] as const);
  const width = Math.max(...steps.map(([command]) => command.length));
  return [
    `${ownFile} is written${hasData ? `; it keeps the users and keys in ./${dataFolder}` : ''}. Next:`,
    '',
    ...steps.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`),
  ];
}
