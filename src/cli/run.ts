import { readFileSync } from 'node:fs';
import { Refusal, refusals } from '../errors.ts';
import { parseCall } from './arguments.ts';
import { type Command, exitCodes, Failure, type Terminal } from './command.ts';
import { commands } from './commands.ts';
import { writeOut } from './terminal.ts';

/** Runs the command line; gives the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => word === args[index]));
  try {
    if (command === undefined) await runWithoutCommand(args, terminal);
    else await runCommand(command, args.slice(command.name.split(' ').length), terminal);
    return 0;
  } catch (error) {
    const failure = asFailure(error);
    const message = failure.code === 'configuration' ? failure.message : `postern: ${failure.message}`;
    terminal.stderr.write(`${message}\n`);
    if (failure.code === 'usage')
      terminal.stderr.write(command === undefined ? overviewOf(commandsLike(args)) : usageOf(command));
    return exitCodes[failure.code];
  }
}

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<void> {
  const call = parseCall(command, args, terminal);
  await (call.isSet('help') ? writeOut(terminal, helpOf(command)) : command.run(call));
}

/** `--help` and `--version`, or what is wrong with the words given. */
async function runWithoutCommand(args: readonly string[], terminal: Terminal): Promise<void> {
  const near = commandsLike(args);
  const last = args[near === commands ? 0 : 1];
  if (last === '--help' || last === '-h') return writeOut(terminal, overviewOf(near));
  if (args[0] === '--version') return writeOut(terminal, `${version()}\n`);
  if (near !== commands) throw new Failure('usage', `${args[0]} needs one of the words below`);
  throw new Failure('usage', args.length === 0 ? 'no command' : 'no such command');
}

/** The commands of the group that the first word names; all, when it names none. */
function commandsLike([group]: readonly string[]): readonly Command[] {
  const near = commands.filter(({ name }) => name.startsWith(`${group} `));
  return near.length === 0 ? commands : near;
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Refusal) return new Failure('failed', sentenceOf(error), error);
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'store_open_failed') return new Failure('failed', message, error);
  return new Failure('failed', `unexpected error: ${stack ?? error}`, error);
}

/** A store's own words may hold an address with a password; its code doesn't. */
function sentenceOf({ code, options }: Refusal): string {
  const reason = (options.cause as NodeJS.ErrnoException | undefined)?.code;
  return reason === undefined ? refusals[code].detail : `${refusals[code].detail} (${reason})`;
}

/** The version of this Postern. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** How one command is written. */
function usageOf(command: Command): string {
  return `usage: postern ${signatureOf(command)} --config FILE\n`;
}

/** What `--help` says of one command. */
function helpOf(command: Command): string {
  return `${usageOf(command)}\n${command.summary}.\n\n${commonHelp}`;
}

/** What `--help` says of several commands, one line each. */
function overviewOf(shown: readonly Command[]): string {
  const lines = shown.map((command) => `  ${signatureOf(command)}\n      ${command.summary}`);
  return `usage: postern <command> --config FILE\n\n${lines.join('\n')}\n\n${commonHelp}\npostern --version prints the version.\n`;
}

function signatureOf({ name, operands, synopsis }: Command): string {
  return [name, ...operands, synopsis].filter((part) => part !== '').join(' ');
}

const commonHelp = `  --config FILE  the configuration; else the file that POSTERN_CONFIG names
  --json         the result as JSON
  --help         this text

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;
