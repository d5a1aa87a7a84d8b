import type { Command } from './command.ts';

/** How a command is written, on one line. */
export function usageOf(command: Command): string {
  return `usage: postern ${signatureOf(command)}${configurationOf(command)}\n`;
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const details = command.details === undefined ? '' : `${command.details}.\n`;
  return `${usageOf(command)}\n${command.summary}.\n${details}\n${storesHelpOf(command)}${commonHelp}`;
}

/** The help of several commands, one line each. */
export function overviewOf(commands: readonly Command[]): string {
  const named = commands.map(
    (command) => [[command.name, ...command.operands].join(' '), command.summary] as const,
  );
  const width = Math.max(...named.map(([name]) => name.length));
  const lines = named.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`);
  return `usage: postern <command> --config FILE\n\n${lines.join('\n')}\n\n${commonHelp}
postern help <command> shows its options; postern version prints the version.
`;
}

function signatureOf({ name, operands, synopsis }: Command): string {
  return [name, ...operands, synopsis].filter((part) => part !== '').join(' ');
}

function configurationOf({ configuration }: Command): string {
  if (configuration === 'none') return '';
  return configuration === 'optional' ? ' [--config FILE]' : ' --config FILE';
}

function storesHelpOf({ stores }: Command): string {
  if (stores === 'none') return '';
  const otherwise =
    stores === 'first-start' ? 'without it only at a first start' : 'without it they must exist';
  return `      --create       make the missing files of the stores; ${otherwise}\n`;
}

const commonHelp = `  -c, --config FILE  the configuration; default: the file in POSTERN_CONFIG
      --json         print the result as JSON
  -h, --help         this text

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.
`;
