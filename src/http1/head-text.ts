import { STATUS_CODES } from 'node:http';

declare const checked: unique symbol;

/** A head as it goes on the wire, blank line included, latin1; only this file makes one. */
export type HeadText = string & { readonly [checked]: true };

/** A head that must not leave: it would hold a byte that has no place there, and be read as something else. */
export class UnwritableHead extends Error {
  /** `part` is the name of the field, or the start line; never a value, which may be a secret. */
  constructor(part: string) {
    super(`unwritable head: ${part}`);
    this.name = 'UnwritableHead';
  }
}

/** Whatever is not HTAB, a printable character or obs-text (RFC 9110 §5.5). */
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;
/** For heads of as many lines as their index: every line clean, none missing and none too many. */
const heads: RegExp[] = [];
const rememberedLines = 128;

const none: readonly string[] = [];

/**
 * Writes a head: its start line, `fields`, then `own`, names and values in turn (RFC 9112 §2.1). Every head that leaves
 * is written here. Throws {@link UnwritableHead}.
 */
export function headText(
  startLine: string,
  fields: readonly string[],
  own: readonly string[] = none,
): HeadText {
  let text = `${startLine}\r\n`;
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  for (let i = 0; i < own.length; i += 2) text += `${own[i]}: ${own[i + 1]}\r\n`;
  text += '\r\n';
  const lines = 1 + (fields.length + own.length) / 2;
  const isWritable = lines <= rememberedLines && headOf(lines).test(text);
  if (!isWritable) assertWritable(startLine, fields, own);
  return text as HeadText;
}

/** The head of a response. Throws as {@link headText} does. */
export function responseHeadText(
  status: number,
  fields: readonly string[],
  own: readonly string[] = none,
): HeadText {
  return headText(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, fields, own);
}

/** The last chunk and the trailers behind it (RFC 9112 §7.1.2). Throws as {@link headText} does. */
export function lastChunk(trailers: readonly string[]): string {
  return trailers.length === 0 ? '0\r\n\r\n' : headText('0', trailers);
}

/** One pass over the finished text is cheaper than one over each name and value. */
function headOf(lines: number): RegExp {
  heads[lines] ??= new RegExp(`^(?:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n){${lines}}\\r\\n$`);
  return heads[lines];
}

/** The same, slowly: for heads of very many lines, and to say what is wrong. */
function assertWritable(startLine: string, ...lists: readonly (readonly string[])[]): void {
  if (unwritable.test(startLine)) throw new UnwritableHead('start line');
  for (const list of lists)
    for (let i = 0; i < list.length; i += 2)
      if (unwritable.test(list[i]!) || unwritable.test(list[i + 1]!))
        throw new UnwritableHead(JSON.stringify(list[i]));
}
