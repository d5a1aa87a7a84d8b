import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A command of a document, and what it says the command prints. */
export interface ConsoleStep {
  readonly command: string;
  readonly expected: readonly string[];
}

/**
 * The commands in the `console` blocks of a Markdown text: lines after `$ `, continued by `> `; every other line is what
 * the command before it prints.
 */
export function consoleSteps(markdown: string): ConsoleStep[] {
  const steps: { command: string; expected: string[] }[] = [];
  for (const [, block = ''] of markdown.matchAll(/```console\n([\s\S]*?)```/g))
    for (const line of block.trimEnd().split('\n')) {
      const last = steps.at(-1);
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: [] });
      else if (last !== undefined && line.startsWith('> ')) last.command += `\n${line.slice(2)}`;
      else last?.expected.push(line);
    }
  return steps;
}

/** Runs the commands one after the other in one bash; gives the lines that each of them printed. */
export async function runConsole(
  steps: readonly ConsoleStep[],
  env: NodeJS.ProcessEnv,
): Promise<readonly string[][]> {
  const mark = '--- next command ---';
  const script = steps.map(({ command }) => `${command}\nprintf '\\n%s\\n' '${mark}'`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
  return stdout
    .split(`${mark}\n`)
    .slice(0, -1)
    .map((printed) => printed.trim().split('\n').filter(Boolean));
}

/** Whether a line is what the document shows, where `…` stands for any text within a JSON string. */
export function isAsShown(shown: string, printed: string): boolean {
  const pattern = shown.split('…').map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('[^"]*')}$`).test(printed);
}
