import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { escapeControls } from '../log/escape-controls.ts';
import { jsonText } from '../log/json-text.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import { type Call, Failure, type Terminal } from './command.ts';

/**
 * Resolves on the first SIGTERM or SIGINT; the second one exits with 1 at once. SIGHUP is ignored. Call this before anything
 * slow: without handlers, process 1 of a container ignores signals, and any other process ends on SIGHUP.
 */
export function firstSignal(terminal: Pick<Terminal, 'on' | 'exit'>): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    const receive = () => {
      if (!isFirst) terminal.exit(1);
      isFirst = false;
      resolve();
    };
    terminal.on('SIGTERM', receive);
    terminal.on('SIGINT', receive);
    // Before the configuration is read there is nothing to read again.
    terminal.on('SIGHUP', () => {});
  });
}

/** Writes the result to standard output: `value` with `--json`, else `text`. Rejects with Failure if that fails. */
export async function printResult(call: Call, value: unknown, text: string): Promise<void> {
  await writeOut(call.terminal, `${call.isSet('json') ? jsonText(value, 2) : text}\n`);
}

/** As {@link printResult}, but prints nothing without `--json`. */
export async function printJsonAlone(call: Call, value: unknown): Promise<void> {
  if (call.isSet('json')) await printResult(call, value, '');
}

/** Says on standard error, for people, what a command has done; with `--json` the result alone says it. */
export function tell(call: Call, sentence: string): void {
  if (!call.isSet('json')) call.terminal.stderr.write(`postern: ${sentence}\n`);
}

/**
 * Writes to standard output and waits until that is done: a key that is shown only once must not get lost silently. Rejects with
 * Failure.
 */
export function writeOut({ stdout }: Pick<Terminal, 'stdout'>, text: string | Uint8Array): Promise<void> {
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

/** Names and values, one pair on each line; a dash for an empty value. */
export function properties(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs
    .map(([name, value]) => `${name.padEnd(width)}  ${value === '' ? '–' : escapeControls(value)}`)
    .join('\n');
}

/** As {@link readableTime}, without seconds, for lists; `otherwise` stands for no instant. */
export function readableMinute(instant: string | null, otherwise: string): string {
  return instant === null ? otherwise : readableTime(instant).replace(/:\d\dZ$/, 'Z');
}

/** An instant as people read it, in UTC: `2026-11-21 09:30:00Z`. Takes epoch ms or RFC 3339. */
export function readableTime(instant: number | string): string {
  return new Date(instant).toISOString().replace('T', ' ').replace(/\.\d+/, '');
}

/** The part of the process that a secret is read from. */
type Keyboard = Pick<Terminal, 'stdin' | 'stderr'>;
type Judge = (raw: string) => Awaitable<string>;

/** Maximum length of a line, more than any password's; the rest of a longer line isn't read. */
const maxLineBytes = 8 * 1024;
const newline = 0x0a;

/**
 * Reads a password: on a terminal by two prompts without echo, else as the first line of standard input. `judge` resolves to the
 * password to use, or rejects. Rejects with Failure if there is none, or the two differ.
 */
export async function readPassword(terminal: Keyboard, judge: Judge): Promise<string> {
  if (!terminal.stdin.isTTY) return judge(await readLine(terminal.stdin));
  return prompting(terminal, async (ask) => {
    const password = await judge(await ask('Password: '));
    if ((await judge(await ask('Repeat password: '))) === password) return password;
    throw new Failure('failed', 'the two passwords differ');
  });
}

/** Reads a secret that isn't typed by hand: on a terminal by one prompt without echo, else as standard input's first line. */
export async function readSecret(terminal: Keyboard, question: string): Promise<string> {
  return terminal.stdin.isTTY ? prompting(terminal, (ask) => ask(question)) : readLine(terminal.stdin);
}

type Ask = (question: string) => Promise<string>;

/** Runs `work` with a function that asks for a line on a terminal, without echo. */
async function prompting({ stdin, stderr }: Keyboard, work: (ask: Ask) => Promise<string>): Promise<string> {
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
    return await work(ask);
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
  if (bytes.length === 0)
    throw new Failure(
      'failed',
      'no password on standard input: pipe it in as one line, or run the command on a terminal, which asks',
    );
  return decode(end < 0 ? bytes : bytes.subarray(0, end)).replace(/\r$/, '');
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Failure('failed', 'the password must be UTF-8', error);
  }
}
