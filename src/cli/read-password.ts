import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from './command.ts';
import { Failure } from './failure.ts';

/** More than any password; what is longer is read no further. */
const maxLineBytes = 8 * 1024;
const newline = 0x0a;

/**
 * Reads a password: on a terminal by two prompts without echo, else as the first line of standard input. `judge` gives
 * the password that is kept, or throws. Throws Failure when there is none, or the two differ.
 */
export async function readPassword(
  terminal: Pick<Terminal, 'stdin' | 'stderr'>,
  judge: (raw: string) => string,
): Promise<string> {
  return terminal.stdin.isTTY ? promptTwice(terminal, judge) : judge(await readLine(terminal.stdin));
}

async function promptTwice(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  judge: (raw: string) => string,
): Promise<string> {
  // readline edits the line and puts the terminal into raw mode and back; what it would echo goes nowhere.
  // Ctrl-C and Ctrl-D close it.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const lines = prompt[Symbol.asyncIterator]();

  async function ask(question: string): Promise<string> {
    stderr.write(question);
    const { done, value } = await lines.next();
    stderr.write('\n');
    if (done) throw new Failure('failed', 'no password was given');
    return value;
  }

  try {
    const password = judge(await ask('Password: '));
    if (judge(await ask('The same again: ')) === password) return password;
    throw new Failure('failed', 'the two passwords differ');
  } finally {
    prompt.close();
  }
}

async function readLine(stdin: Terminal['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (chunk.includes(newline) || length > maxLineBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf(newline);
  if (bytes.length === 0) throw new Failure('failed', 'no password on standard input');
  return decode(end < 0 ? bytes : bytes.subarray(0, end)).replace(/\r$/, '');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Failure('failed', 'the password must be UTF-8', error);
  }
}
