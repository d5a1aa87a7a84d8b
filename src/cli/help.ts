import { commonOptions, helpedOptions } from './arguments.ts';
import type { Command, Option, Options } from './command.ts';

const lineWidth = 80;
const program = 'usage: postern ';

/** Usage of a command: its words, operands and own options. */
export function usageOf({ name, operands = [], options = {}, configuration }: Command): string {
  const config = configuration === 'none' ? [] : ['[--config FILE]'];
  const words = [...operands, ...synopsisOf(options), ...config];
  return hanging(program, [name, ...words]);
}

/** Help of a command. */
export function helpOf(command: Command): string {
  const { summary, details } = command;
  const prose = details === undefined ? `${summary}.` : `${summary}. ${details}.`;
  return `${usageOf(command)}\n${hanging('', prose.split(/\s+/))}\n${linesOf(helpedOptions(command))}\n${exitCodes}`;
}

/** Help of several commands, one line each. */
export function overviewOf(commands: readonly Command[]): string {
  const named = commands.map(
    ({ name, operands = [], summary }) => [[name, ...operands].join(' '), summary] as const,
  );
  const width = Math.max(...named.map(([name]) => name.length));
  const lines = named.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `usage: postern <command> [--config FILE]\n\n${lines.join('')}\n${linesOf(commonOptions)}\n${exitCodes}
postern help <command> explains the options; postern version prints the version.
`;
}

/** The options of a usage line, each alternative beside the option that it excludes. */
function synopsisOf(options: Options): readonly string[] {
  const parts: string[] = [];
  for (const [name, option] of Object.entries(options)) {
    const written = writtenAs(name, option);
    if (option.isAlternative) parts.push(parts.pop()!.replace(']', ` | ${written}]`));
    else if (option.isRequired) parts.push(written);
    else parts.push(option.isRepeatable ? `[${written}]...` : `[${written}]`);
  }
  return parts;
}

/** Paragraphs that explain the options. */
function linesOf(options: Options): string {
  const named = Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? '    ' : `-${option.short}, `;
    return [`  ${short}${writtenAs(name, option)}`, option.help] as const;
  });
  const width = Math.max(...named.map(([name]) => name.length)) + 2;
  return named.map(([name, help]) => hanging(name.padEnd(width), help.split(/\s+/))).join('');
}

function writtenAs(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** Wraps the words after `start`; further lines are indented by its width. */
function hanging(start: string, words: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || start.length + longer.length <= lineWidth) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return `${start}${[...lines, line].join(`\n${' '.repeat(start.length)}`)}\n`;
}

const exitCodes = 'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.\n';
