import { parseArgs } from 'node:util';
import { suggestion } from '../rules/nearest-name.ts';
import { type Call, type Command, Failure, type OptionTypes, type Terminal } from './command.ts';

/** Options that every command accepts. */
export const commonOptions: OptionTypes = {
  config: { type: 'string', short: 'c' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** Options of the commands that open the stores. */
const storeOptions: OptionTypes = { create: { type: 'boolean' } };

/** Parses the arguments after a command's name; throws Failure `usage`. Its message never repeats a value. */
export function parseCall(command: Command, args: readonly string[], terminal: Terminal): Call {
  const options = {
    ...command.options,
    ...(command.stores !== 'none' && storeOptions),
    ...commonOptions,
  };
  const ids = command.operands.some((operand) => takesId.test(operand))
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
    (name, index) => name && !command.options[name]?.multiple && names.indexOf(name) !== index,
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
/** The id of a session, or of a key that signs: base64url, of which one in 64 begins with the sign of an option. */
const id = /^-[\w-]{21}(?:[\w-]{21})?$/;

function isIdLikeOption(text: string, options: OptionTypes): boolean {
  return id.test(text) && !Object.keys(options).includes(text.slice(2));
}

function fitsOperands({ operands }: Command, count: number): boolean {
  const required = operands.filter((operand) => !operand.startsWith('['));
  return count >= required.length && count <= operands.length;
}

function wrongOperands({ name, operands }: Command, positionals: readonly string[]): string {
  if (operands.length > 0) return `${name} takes ${operands.join(' ')}`;
  const isFile = positionals.some((text) => /\.ya?ml$/.test(text));
  return `${name} takes no arguments${isFile ? ': name the configuration with --config' : ''}`;
}

function parseStrictly(args: readonly string[], options: OptionTypes) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true, tokens: true });
  } catch (error) {
    // Only the first sentence: the others are advice that doesn't apply here.
    const [sentence = ''] = (error as Error).message.split('. ');
    const [, unknown] = /^Unknown option '--([^']+)'$/.exec(sentence) ?? [];
    const hint = unknown === undefined ? '' : suggestion(unknown, Object.keys(options), '--');
    throw new Failure('usage', `${sentence}${hint}`);
  }
}
