import { keptText } from './copied-text.ts';
import { STATUS_CODES } from './node-http.ts';

declare const checked: unique symbol;

/** Text of a head as sent, in latin1, including the empty line; only this file creates such texts. */
export type HeadText = string & { readonly [checked]: true };

/** Complete lines of a head, checked to be writable. */
export type CheckedLines = string & { readonly [checked]: true };

/** Error about a head that must not be sent, because one of its characters would change how the head is read. */
export class UnwritableHead extends Error {
  /** `part` is the name of the field, or `start line`; never a value, which may be a secret. */
  constructor(part: string) {
    super(`unwritable head: ${part}`);
    this.name = 'UnwritableHead';
  }
}

/** Matches a character other than HTAB, space, printable ASCII and obs-text (RFC 9110 §5.5). */
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;
/** Patterns by number of lines: each matches exactly that many writable lines. */
const linePatterns: RegExp[] = [];
const maxPatternLines = 128;

/** Takes the fields of a head, one after the other. */
export interface FieldSink {
  add(name: string, value: string): void;
  addBlock(block: FieldBlock): void;
}

/** Fields shared by many heads: their lines are written and checked once. */
export class FieldBlock {
  /** Names and values in turn. */
  readonly fields: readonly string[];
  #lines: CheckedLines | null = null;

  constructor(fields: readonly string[]) {
    this.fields = Object.freeze(fields);
  }

  /** The lines of the fields. Throws {@link UnwritableHead}. */
  get lines(): CheckedLines {
    if (this.#lines === null) {
      assertWritable('', this.fields);
      // Flattened: a rope's parts would lie scattered in memory.
      this.#lines = keptText(linesOf(this.fields)) as CheckedLines;
    }
    return this.#lines;
  }
}

/** Collects fields, names and values in turn. */
export class FieldList implements FieldSink {
  readonly fields: string[] = [];

  add(name: string, value: string): void {
    this.fields.push(name, value);
  }

  addBlock({ fields }: FieldBlock): void {
    this.fields.push(...fields);
  }
}

/** Builds the text of a head field by field, without collecting the fields in a list. */
export class HeadWriter implements FieldSink {
  #text: string;
  #lines = 1;

  constructor(startLine: string) {
    this.#text = `${startLine}\r\n`;
  }

  add(name: string, value: string): void {
    this.#text += lineOf(name, value);
    this.#lines += 1;
  }

  addBlock(block: FieldBlock): void {
    this.#text += block.lines;
    this.#lines += block.fields.length / 2;
  }

  /** Returns the head; null if one pass can't prove it writable, so that {@link headText} has to check each field. */
  finish(): HeadText | null {
    return areWritable(this.#text, this.#lines) ? (`${this.#text}\r\n` as HeadText) : null;
  }
}

/**
 * Writes a head: its start line, then `fields` (names and values in turn), then the lines `after` (RFC 9112 §2.1). Throws
 * {@link UnwritableHead}.
 */
export function headText(
  startLine: string,
  fields: readonly string[],
  after: CheckedLines | '' = '',
): HeadText {
  const text = `${startLine}\r\n${linesOf(fields)}`;
  if (!areWritable(text, 1 + fields.length / 2)) assertWritable(startLine, fields);
  return `${text}${after}\r\n` as HeadText;
}

function linesOf(fields: readonly string[]): string {
  let text = '';
  for (let i = 0; i < fields.length; i += 2) text += lineOf(fields[i]!, fields[i + 1]!);
  return text;
}

/** A field's line, by concatenation: a template literal would check the type of each part. */
function lineOf(name: string, value: string): string {
  return name + ': ' + value + '\r\n';
}

/** Adds a field at the end of a head. Throws like {@link headText}. */
export function withField(head: HeadText, name: string, value: string): HeadText {
  const line = `${name}: ${value}`;
  if (unwritable.test(line)) throw new UnwritableHead(JSON.stringify(name));
  return `${head.slice(0, -2)}${line}\r\n\r\n` as HeadText;
}

/** The head of a response. Throws like {@link headText}. */
export function responseHeadText(
  status: number,
  fields: readonly string[],
  after: CheckedLines | '' = '',
): HeadText {
  statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  return headText(statusLines[status], fields, after);
}

const statusLines: string[] = [];

/**
 * Framing lines of a response, preceded by `Date` unless the head has one (RFC 9110 §6.6.1, RFC 9112 §6, §9.6). `length`: size of
 * the body in bytes, -1 if it is not announced; `keepAlive`: the fields that keep the connection open, null to close it.
 */
export function framingLines(
  hasDate: boolean,
  length: number,
  isChunked: boolean,
  keepAlive: FieldBlock | null,
): CheckedLines {
  return `${hasDate ? '' : dateLine()}${length < 0 ? '' : `Content-Length: ${length}\r\n`}${
    isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
  }${keepAlive === null ? 'Connection: close\r\n' : keepAlive.lines}` as CheckedLines;
}

let dateSecond = 0;
let currentDate = '';

/** The `Date` line, formatted at most once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    currentDate = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
  }
  return currentDate;
}

/** The last chunk and the trailers after it (RFC 9112 §7.1.2). Throws like {@link headText}. */
export function lastChunk(trailers: readonly string[]): string {
  return trailers.length === 0 ? '0\r\n\r\n' : headText('0', trailers);
}

/**
 * True if the text has exactly `lines` lines, each of them writable; false also if there are too many lines to check in one pass.
 * One pass over the complete text is cheaper than one for each name and value.
 */
function areWritable(text: string, lines: number): boolean {
  if (lines > maxPatternLines) return false;
  linePatterns[lines] ??= new RegExp(`^(?:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n){${lines}}$`);
  return linePatterns[lines].test(text);
}

/** Checks a head field by field, because it has too many lines for one pass, or to name the unwritable field in the error. */
function assertWritable(startLine: string, fields: readonly string[]): void {
  if (unwritable.test(startLine)) throw new UnwritableHead('start line');
  for (let i = 0; i < fields.length; i += 2)
    if (unwritable.test(fields[i]!) || unwritable.test(fields[i + 1]!))
      throw new UnwritableHead(JSON.stringify(fields[i]));
}
