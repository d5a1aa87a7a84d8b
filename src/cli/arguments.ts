import { parseArgs } from 'node:util';
import { type Call, type Command, Failure, type OptionTypes, type Terminal } from './command.ts';

/** Options that every command takes. */
export const commonOptions: OptionTypes = {
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

/** Reads the arguments after a command's name; throws Failure `usage`. Values are never repeated in its message. */
export function parseCall(command: Command, args: readonly string[], terminal: Terminal): Call {
  const { values, positionals, tokens } = parseStrictly(args, { ...command.options, ...commonOptions });
  const given = tokens.filter(({ kind }) => kind === 'option').map((token) => 'name' in token && token.name);
  const repeated = given.find(
    (name, index) => name && !command.options[name]?.multiple && given.indexOf(name) !== index,
  );
  if (repeated) throw new Failure('usage', `--${repeated} can be given once`);
  if (values.help !== true && positionals.length !== command.operands.length)
    throw new Failure('usage', `${command.name} takes ${command.operands.join(' ') || 'options alone'}`);
  const text = (option: string) => values[option] as string | undefined;
  return {
    terminal,
    operands: positionals,
    isSet: (option) => values[option] === true,
    text,
    requireText(option) {
      const value = text(option);
      if (value === undefined) throw new Failure('usage', `${command.name} needs --${option}`);
      return value;
    },
    texts: (option) => (values[option] ?? []) as string[],
  };
}

function parseStrictly(args: readonly string[], options: OptionTypes) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true, tokens: true });
  } catch (error) {
    // The first sentence; the others are advice on what isn't wanted here.
    const [sentence = ''] = (error as Error).message.split('. ');
    throw new Failure('usage', sentence);
  }
}
