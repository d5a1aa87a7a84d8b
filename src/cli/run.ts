import { readFileSync } from 'node:fs';
import { Refusal, refusals } from '../errors.ts';
import { escapeControls } from '../log/escape-controls.ts';
import { suggestion } from '../rules/nearest-name.ts';
import { parseCall } from './arguments.ts';
import { type Command, exitCodes, Failure, type Terminal } from './command.ts';
import { commands } from './commands.ts';
import { helpOf, overviewOf, usageOf, widthOf } from './help.ts';
import { writeOut } from './terminal.ts';

/** Runs the command line; returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = commandOf(args);
  try {
    if (command === undefined) await runWithoutCommand(args, terminal);
    else await runCommand(command, args.slice(command.name.split(' ').length), terminal);
    return 0;
  } catch (error) {
    const failure = asFailure(error);
    const message = failure.code === 'configuration' ? failure.message : `postern: ${failure.message}`;
    // Messages of libraries and of the system may repeat names of files, or texts from a store.
    terminal.stderr.write(`${message.split('\n').map(escapeControls).join('\n')}\n`);
    if (failure.code === 'usage') terminal.stderr.write(usageAfter(command, args, widthOf(terminal.stderr)));
    return exitCodes[failure.code];
  }
}

function commandOf(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => word === words[index]));
}

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<void> {
  const call = parseCall(command, args, terminal);
  await (call.isSet('help')
    ? writeOut(terminal, helpOf(command, widthOf(terminal.stdout)))
    : command.run(call));
}

const helpWords = ['help', '--help', '-h'];
const versionWords = ['version', '--version', '-v', '-V'];

/** Prints help or the version; throws Failure `usage` for any other words. */
async function runWithoutCommand(args: readonly string[], terminal: Terminal): Promise<void> {
  const [first = '', ...others] = args;
  if (versionWords.includes(first)) return writeOut(terminal, `${version()}\n`);
  if (helpWords.includes(first)) return writeHelp(others, terminal);
  const group = groupOf(first);
  if (group.length > 0 && helpWords.includes(others[0] ?? ''))
    return writeOut(terminal, overviewOf(group, widthOf(terminal.stdout)));
  throw new Failure('usage', wrongWords(args, group));
}

async function writeHelp(words: readonly string[], terminal: Terminal): Promise<void> {
  const command = commandOf(words);
  const group = groupOf(words[0] ?? '');
  if (command !== undefined) return writeOut(terminal, helpOf(command, widthOf(terminal.stdout)));
  if (words.length > 0 && group.length === 0) throw new Failure('usage', wrongWords(words, group));
  return writeOut(terminal, overviewOf(group.length > 0 ? group : commands, widthOf(terminal.stdout)));
}

/** Message about words that name no command. A second word is repeated only if both together are close to a command's name. */
function wrongWords([first, second]: readonly string[], group: readonly Command[]): string {
  if (first === undefined) return 'no command';
  if (first.startsWith('-')) return 'the command comes first, then its options';
  const names = commands.map(({ name }) => name);
  if (second !== undefined && !second.startsWith('-')) {
    const nearest = suggestion(`${first} ${second}`, names);
    if (nearest !== '') return `no such command "${shown(`${first} ${second}`)}"${nearest}`;
  }
  if (group.length > 0)
    return second === undefined || second.startsWith('-')
      ? `${first} needs a subcommand`
      : `${first} has no such subcommand`;
  return `no such command "${shown(first)}"${suggestion(first, [...names, ...groupNames])}`;
}

const longestShown = 40;

function shown(words: string): string {
  return escapeControls(words.slice(0, longestShown));
}

const groupNames = commands
  .filter(({ name }) => name.includes(' '))
  .map(({ name }) => name.slice(0, name.indexOf(' ')));

/** Commands of the group with that name; none if there is no such group. */
function groupOf(word: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

/** Text that follows a message about wrong usage: the usage line, or where to look. */
function usageAfter(command: Command | undefined, args: readonly string[], width: number): string {
  if (command !== undefined) return usageOf(command, width);
  const group = groupOf(args[0] ?? '');
  if (args.length === 0 || group.length > 0) return overviewOf(args.length === 0 ? commands : group, width);
  return 'postern help lists all commands\n';
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Refusal) return new Failure('failed', sentenceOf(error), error);
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'store_open_failed' || code === 'worker_ended') return new Failure('failed', message, error);
  return new Failure('failed', `unexpected error: ${stack ?? error}`, error);
}

/** Sentence for a refusal. It names the code of the cause but not its message, which may contain an address with a password. */
function sentenceOf({ code, options }: Refusal): string {
  const reason = (options.cause as NodeJS.ErrnoException | undefined)?.code;
  return reason === undefined ? refusals[code].detail : `${refusals[code].detail} (${reason})`;
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
