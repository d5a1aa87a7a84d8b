/** A value of RESP2; `code` is the type's first character. Texts are latin1, which keeps every byte. */
export type RespValue =
  | { readonly code: '+' | '-' | '$'; readonly text: string | null }
  | { readonly code: ':'; readonly number: number }
  | { readonly code: '*'; readonly items: readonly RespValue[] | null };

/** Error for a reply that is not RESP2, is too large, or doesn't fit its command. */
export class UnexpectedReply extends Error {
  constructor(detail: string) {
    super(`unexpected reply: ${detail}`);
    this.name = 'UnexpectedReply';
  }
}

/** A complete value and the offset after it, or the number of bytes `needed` before the value can be complete. */
export type RespRead =
  | { readonly value: RespValue; readonly end: number }
  | { readonly value: undefined; readonly needed: number };

/** Maximum lengths of a text and of a list: far more than the session store ever receives. */
const maxTextBytes = 16 * 1024 * 1024;
const maxItems = 1_000_000;
/** Maximum depth of nested lists; those of CLUSTER SLOTS are four deep. */
const maxDepth = 8;
const maxLineBytes = 64 * 1024;

const cr = 0x0d;
const lf = 0x0a;

/** Reads the value that begins at `start`. Throws {@link UnexpectedReply}. */
export function readResp(bytes: Buffer, start: number, depth = 0): RespRead {
  if (depth > maxDepth) throw new UnexpectedReply('nested too deeply');
  const lineEnd = endOfLine(bytes, start);
  if (lineEnd < 0) return { value: undefined, needed: bytes.length + 1 };
  const code = String.fromCharCode(bytes[start]!);
  const line = bytes.toString('latin1', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (code) {
    case '+':
    case '-':
      return { value: { code, text: line }, end };
    case ':':
      return { value: { code, number: integer(line) }, end };
    case '$':
      return readText(bytes, end, lengthOf(line, maxTextBytes));
    case '*':
      return readList(bytes, end, lengthOf(line, maxItems), depth);
    default:
      throw new UnexpectedReply('not RESP2');
  }
}

function readText(bytes: Buffer, start: number, length: number): RespRead {
  if (length < 0) return { value: { code: '$', text: null }, end: start };
  const end = start + length + 2;
  if (bytes.length < end) return { value: undefined, needed: end };
  if (bytes[end - 2] !== cr || bytes[end - 1] !== lf) throw new UnexpectedReply('unterminated text');
  return { value: { code: '$', text: bytes.toString('latin1', start, end - 2) }, end };
}

function readList(bytes: Buffer, start: number, length: number, depth: number): RespRead {
  if (length < 0) return { value: { code: '*', items: null }, end: start };
  const items: RespValue[] = [];
  let end = start;
  while (items.length < length) {
    const read = readResp(bytes, end, depth + 1);
    if (read.value === undefined) return read;
    items.push(read.value);
    end = read.end;
  }
  return { value: { code: '*', items }, end };
}

/** The offset of the line's CR; -1: not received yet. */
function endOfLine(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(lf, start);
  const length = (at < 0 ? bytes.length : at) - start;
  if (length > maxLineBytes) throw new UnexpectedReply('line too long');
  if (at < 0) return -1;
  if (at === start || bytes[at - 1] !== cr) throw new UnexpectedReply('line without CR');
  return at - 1;
}

function integer(text: string): number {
  const number = /^-?\d{1,19}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new UnexpectedReply('not an integer');
  return number;
}

function lengthOf(text: string, max: number): number {
  const length = integer(text);
  if (length < -1 || length > max) throw new UnexpectedReply('length out of bounds');
  return length;
}
