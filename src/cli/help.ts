import { commonOptions, helpedOptions } from './arguments.ts';
import type { Command, Option, Options } from './command.ts';

const program = 'usage: postern ';
/** Bounds of the width that text is wrapped to, in columns: longer lines are hard to read, shorter ones hold no option. */
const narrowest = 40;
const widest = 100;

/** Width for text on a terminal; 80 if it is unknown, as on a pipe. */
export function widthOf({ columns }: { readonly columns?: number | undefined }): number {
  return Math.min(Math.max(columns || 80, narrowest), widest);
}

/** Usage of a command: its words, operands and own options, wrapped to a width. */
export function usageOf(
  { name, operands = [], options = {}, configuration }: Command,
  width: number,
): string {
  const config = configuration === 'none' ? [] : ['[--config FILE]'];
  const words = [...operands, ...synopsisOf(options), ...config];
  // Alternatives that are longer than a line are broken.
  const fitting = words.flatMap((word) => (program.length + word.length > width ? word.split(' ') : word));
  return hanging(program, [name, ...fitting], width);
}

/** Help of a command, wrapped to a width. */
export function helpOf(command: Command, width: number): string {
  const { summary, details, example } = command;
  const prose = details === undefined ? `${summary}.` : `${summary}. ${details}.`;
  return [
    usageOf(command, width),
    hanging('', prose.split(/\s+/), width),
    linesOf(helpedOptions(command), width),
    `Example:\n  postern ${example}\n`,
    exitCodesIn(width),
  ].join('\n');
}

/** Help of several commands, one line each, wrapped to a width. */
export function overviewOf(commands: readonly Command[], width: number): string {
  const named = commands.map(
    ({ name, operands = [], summary }) => [[name, ...operands].join(' '), summary] as const,
  );
  const columns = Math.max(...named.map(([name]) => name.length)) + 2;
  const lines = named.map(([name, summary]) => entry(`  ${name}`, columns + 2, summary, width));
  const more = 'postern help <command> explains the options; postern version prints the version.';
  return [
    'usage: postern <command> [--config FILE]\n',
    lines.join(''),
    linesOf(commonOptions, width),
    `${exitCodesIn(width)}${hanging('', more.split(' '), width)}`,
  ].join('\n');
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
function linesOf(options: Options, width: number): string {
  const named = Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? '    ' : `-${option.short}, `;
    return [`  ${short}${writtenAs(name, option)}`, option.help] as const;
  });
  const columns = Math.max(...named.map(([name]) => name.length)) + 2;
  return named.map(([name, help]) => entry(name, columns, help, width)).join('');
}

/** A name and its explanation from a column on, or below the name where the column leaves too little room. */
function entry(name: string, column: number, help: string, width: number): string {
  const words = help.split(/\s+/);
  if (width - column >= narrowest / 2) return hanging(name.padEnd(column), words, width);
  return `${name}\n${hanging('        ', words, width)}`;
}

function writtenAs(name: string, { value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** Wraps the words after `start`; further lines are indented by its width. */
function hanging(start: string, words: readonly string[], width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || start.length + longer.length <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return `${start}${[...lines, line].join(`\n${' '.repeat(start.length)}`)}\n`;
}

function exitCodesIn(width: number): string {
  return hanging('', 'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.'.split(' '), width);
}
