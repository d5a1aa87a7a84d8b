import { keptText } from './copied-text.ts';
import { STATUS_CODES } from './node-http.ts';

declare const checked: unique symbol;

/** A head as sent, including the empty line, latin1; only this file creates one. */
export type HeadText = string & { readonly [checked]: true };

/** A head that must not be sent, because it contains a byte that would change how it is read. */
export class UnwritableHead extends Error {
  /** `part` is the name of the field, or `start line`; never a value, which may be a secret. */
  constructor(part: string) {
    super(`unwritable head: ${part}`);
    this.name = 'UnwritableHead';
  }
}

/** Anything but HTAB, printable characters and obs-text (RFC 9110 §5.5). */
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;
/** By number of lines: matches a head of exactly so many lines, each of which is writable. */
const headPatterns: RegExp[] = [];
const maxPatternLines = 128;

const none: readonly string[] = [];

/** Takes the fields of a head, one after the other. */
export interface FieldSink {
  add(name: string, value: string): void;
  addBlock(block: FieldBlock): void;
}

/** Fields that are part of many heads: their lines are written and checked once. */
export class FieldBlock {
  /** Names and values in turn. */
  readonly fields: readonly string[];
  #lines: string | null = null;

  constructor(fields: readonly string[]) {
    this.fields = Object.freeze(fields);
  }

  /** Throws {@link UnwritableHead}. */
  get lines(): string {
    if (this.#lines === null) {
      assertWritable('', this.fields);
      // In one piece: its parts would lie anywhere in memory.
      this.#lines = keptText(linesOf(this.fields));
    }
    return this.#lines;
  }
}

/** Keeps them, names and values in turn. */
export class FieldList implements FieldSink {
  readonly fields: string[] = [];

  add(name: string, value: string): void {
    this.fields.push(name, value);
  }

  addBlock({ fields }: FieldBlock): void {
    this.fields.push(...fields);
  }
}

/** Writes a head as its fields come, without a list of them. */
export class HeadWriter implements FieldSink {
  #text: string;
  #lines = 1;

  constructor(startLine: string) {
    this.#text = `${startLine}\r\n`;
  }

  add(name: string, value: string): void {
    this.#text += `${name}: ${value}\r\n`;
    this.#lines += 1;
  }

  addBlock(block: FieldBlock): void {
    this.#text += block.lines;
    this.#lines += block.fields.length / 2;
  }

  /** The head; null if it can't be told to be writable by one look at it, and {@link headText} has to judge each field. */
  finish(): HeadText | null {
    const text = `${this.#text}\r\n`;
    return this.#lines <= maxPatternLines && headPattern(this.#lines).test(text) ? (text as HeadText) : null;
  }
}

/**
 * Writes a head: its start line, `fields`, then `own`, names and values in turn (RFC 9112 §2.1). Every head that is
 * sent is written here. Throws {@link UnwritableHead}.
 */
export function headText(
  startLine: string,
  fields: readonly string[],
  own: readonly string[] = none,
): HeadText {
  const text = `${startLine}\r\n${linesOf(fields)}${linesOf(own)}\r\n`;
  const lines = 1 + (fields.length + own.length) / 2;
  const isWritable = lines <= maxPatternLines && headPattern(lines).test(text);
  if (!isWritable) assertWritable(startLine, fields, own);
  return text as HeadText;
}

function linesOf(fields: readonly string[]): string {
  let text = '';
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return text;
}

/** A head with one more field, at its end. Throws like {@link headText}. */
export function withField(head: HeadText, name: string, value: string): HeadText {
  const line = `${name}: ${value}`;
  if (unwritable.test(line)) throw new UnwritableHead(JSON.stringify(name));
  return `${head.slice(0, -2)}${line}\r\n\r\n` as HeadText;
}

/** The head of a response. Throws like {@link headText}. */
export function responseHeadText(
  status: number,
  fields: readonly string[],
  own: readonly string[] = none,
): HeadText {
  return headText(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, fields, own);
}

/** The last chunk and the trailers after it (RFC 9112 §7.1.2). Throws like {@link headText}. */
export function lastChunk(trailers: readonly string[]): string {
  return trailers.length === 0 ? '0\r\n\r\n' : headText('0', trailers);
}

/** One pass over the complete text is cheaper than one for each name and value. */
function headPattern(lines: number): RegExp {
  headPatterns[lines] ??= new RegExp(`^(?:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n){${lines}}\\r\\n$`);
  return headPatterns[lines];
}

/** The same check field by field: for heads of very many lines, and to find out what is wrong. */
function assertWritable(startLine: string, ...lists: readonly (readonly string[])[]): void {
  if (unwritable.test(startLine)) throw new UnwritableHead('start line');
  for (const list of lists)
    for (let i = 0; i < list.length; i += 2)
      if (unwritable.test(list[i]!) || unwritable.test(list[i + 1]!))
        throw new UnwritableHead(JSON.stringify(list[i]));
}
