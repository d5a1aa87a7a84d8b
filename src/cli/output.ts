import type { Call, Terminal } from './command.ts';
import { Failure } from './failure.ts';

/** Writes the result to standard output: `value` with `--json`, else `text`. Throws Failure when it can't be written. */
export async function printResult(call: Call, value: unknown, text: string): Promise<void> {
  await writeOut(call.terminal, `${call.isSet('json') ? JSON.stringify(value, null, 2) : text}\n`);
}

/** As {@link printResult}, for a command that has nothing to tell people. */
export async function printJsonAlone(call: Call, value: unknown): Promise<void> {
  if (call.isSet('json')) await printResult(call, value, '');
}

/**
 * Writes to standard output and waits until it is done: a key that is shown this once must not be lost in silence.
 * Throws Failure.
 */
export function writeOut({ stdout }: Pick<Terminal, 'stdout'>, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Failure('failed', `standard output can't be written: ${error.message}`, error));
    stdout.once('error', fail);
    stdout.write(text, (error) => {
      if (error) return fail(error);
      stdout.off('error', fail);
      resolve();
    });
  });
}

/** Rows in columns as wide as their widest cell. What a terminal could take for more than a letter is escaped. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [header, ...rows.map((row) => row.map(escapeControls))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
