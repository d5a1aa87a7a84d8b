import { createInterface } from 'node:readline';
import { escapeControls } from '../../log/escape-controls.ts';
import { Failure, type Terminal } from '../command.ts';

/** A value that an option gives, or a person at a terminal. */
export interface Question<T> {
  /** Text of the prompt, without default and colon. */
  readonly prompt: string;
  /** Text that an empty line stands for; absent: there must be a line. */
  readonly preset?: string;
  /** Throws a RangeError, whose message is the rule, for an unusable text. */
  readonly parse: (text: string) => T;
}

/** Asks a question until its text is usable. */
export type Ask = <T>(question: Question<T>) => Promise<T>;

/**
 * Runs `work` with a function that asks a person; lines that are there before their question, because several were pasted, are
 * its answers. Rejects with Failure if the person gives up (Ctrl-C, Ctrl-D).
 */
export async function asking<T>(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const prompt = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 });
  const closed = new Promise<never>((_, reject) => {
    prompt.once('close', () => reject(new Failure('failed', 'nothing was written')));
  });
  // Rejected at the end of every dialogue.
  closed.catch(() => {});
  const early: string[] = [];
  let take: ((line: string) => void) | undefined;
  prompt.on('line', (line) => {
    if (take === undefined) early.push(line);
    else take(line);
    take = undefined;
  });

  function lineAfter(shown: string): Promise<string> {
    const line = early.shift();
    if (line !== undefined) {
      // It was echoed before its question.
      stderr.write(`${shown}${escapeControls(line)}\n`);
      return Promise.resolve(line);
    }
    prompt.setPrompt(shown);
    prompt.prompt();
    return new Promise((resolve) => {
      take = resolve;
    });
  }

  async function ask<A>({ prompt: text, preset, parse }: Question<A>): Promise<A> {
    const shown = preset === undefined ? text : `${text} [${escapeControls(preset)}]`;
    for (;;) {
      const line = (await Promise.race([lineAfter(`${shown}: `), closed])).trim();
      try {
        return parse(line === '' && preset !== undefined ? preset : line);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        // Pasted answers after one that is refused would be taken for those of other questions.
        early.length = 0;
        stderr.write(`  This ${error.message}.\n`);
      }
    }
  }

  try {
    return await work(ask);
  } finally {
    prompt.close();
  }
}
