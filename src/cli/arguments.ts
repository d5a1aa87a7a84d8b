import { parseArgs } from 'node:util';
import { suggestion } from '../rules/nearest-name.ts';
import { type Call, type Command, Failure, type Options, type Terminal } from './command.ts';

const config = {
  short: 'c',
  value: 'FILE',
  help: 'the configuration; default: the file in POSTERN_CONFIG, else ./postern.yaml',
};
const json = { help: 'print the result as JSON' };
const help = { short: 'h', help: 'print this text' };

/** Options of every command, in the order of the help. */
export const commonOptions: Options = { config, json, help };

/** Options that the help of a command explains: its own, then those that it shares with others. */
export function helpedOptions(command: Command): Options {
  const { configuration, stores, hasNoResult = false } = command;
  const otherwise =
    stores === 'first-start' ? 'without it only at a first start' : 'without it they must exist';
  const create = { help: `create missing files of the stores; ${otherwise}` };
  return {
    ...command.options,
    ...(stores !== 'none' && { create }),
    ...(configuration !== 'none' && { config }),
    ...(!hasNoResult && { json }),
    help,
  };
}

/** Parses the arguments after a command's name; throws Failure `usage`. Its message never repeats a value. */
export function parseCall(command: Command, args: readonly string[], terminal: Terminal): Call {
  const options = { ...helpedOptions(command), ...commonOptions };
  const ids = command.operands?.some((operand) => takesId.test(operand))
    ? args.filter((text) => isIdLikeOption(text, options))
    : [];
  const parsed = parseStrictly(
    args.filter((text) => !ids.includes(text)),
    options,
  );
  const { values, tokens } = parsed;
  const positionals = [...parsed.positionals, ...ids];
  const names = tokens.filter(({ kind }) => kind === 'option').map((token) => 'name' in token && token.name);
  const repeated = names.find(
    (name, index) => name && !options[name]?.isRepeatable && names.indexOf(name) !== index,
  );
  if (repeated) throw new Failure('usage', `--${repeated} may be given only once`);
  if (values.help !== true && !fitsOperands(command, positionals.length))
    throw new Failure('usage', wrongOperands(command, positionals));
  const text = (option: string) => values[option] as string | undefined;
  return {
    terminal,
    operands: positionals,
    isSet: (option) => values[option] === true,
    creates: values.create === true ? 'always' : command.stores === 'first-start' ? 'first-start' : 'never',
    text,
    requireText(option) {
      const value = text(option);
      if (value === undefined) throw new Failure('usage', `${command.name} needs --${option}`);
      return value;
    },
    texts: (option) => (values[option] ?? []) as string[],
  };
}

const takesId = /^\[?K?ID\]?$/;
/** Matches an id of a session or signing key that begins like an option: ids are base64url, so one in 64 does. */
const id = /^-[\w-]{21}(?:[\w-]{21})?$/;

function isIdLikeOption(text: string, options: Options): boolean {
  return id.test(text) && !Object.keys(options).includes(text.slice(2));
}

function fitsOperands({ operands = [] }: Command, count: number): boolean {
  const required = operands.filter((operand) => !operand.startsWith('['));
  return count >= required.length && count <= operands.length;
}

function wrongOperands({ name, operands = [] }: Command, positionals: readonly string[]): string {
  if (operands.length > 0) return `${name} takes ${operands.join(' ')}`;
  const isFile = positionals.some((text) => /\.ya?ml$/.test(text));
  return `${name} takes no arguments${isFile ? ': name the configuration with --config' : ''}`;
}

function parseStrictly(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { value, isRepeatable = false, short }]) => {
    const type = value === undefined ? 'boolean' : 'string';
    return [name, { type, multiple: isRepeatable, ...(short !== undefined && { short }) }] as const;
  });
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types),
      strict: true,
      allowPositionals: true,
      tokens: true,
    });
  } catch (error) {
    // Only the first sentence: the others are advice that doesn't apply here.
    const [sentence = ''] = (error as Error).message.split('. ');
    const [, unknown] = /^Unknown option '--([^']+)'$/.exec(sentence) ?? [];
    throw new Failure('usage', `${sentence}${unknown === undefined ? '' : hintFor(unknown, options)}`);
  }
}

/** Names the option that was probably meant by an unknown one. */
function hintFor(unknown: string, options: Options): string {
  const meant = Object.entries(options).find(([, { otherNames = [] }]) => otherNames.includes(unknown));
  return meant === undefined
    ? suggestion(unknown, Object.keys(options), '--')
    : `: did you mean "--${meant[0]}"?`;
}
