import { readFileSync } from 'node:fs';
import type { Command } from './command.ts';

/** The version of this Postern. */
export function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** How one command is written. */
export function usageOf(command: Command): string {
  return `usage: postern ${signatureOf(command)} --config FILE\n`;
}

/** What `--help` says of one command. */
export function helpOf(command: Command): string {
  return `${usageOf(command)}\n${command.summary}.\n\n${commonHelp}`;
}

/** What `--help` says of several commands, one line each. */
export function overviewOf(commands: readonly Command[]): string {
  const lines = commands.map((command) => `  ${signatureOf(command)}\n      ${command.summary}`);
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
