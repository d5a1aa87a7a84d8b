import { fieldNameOf, token } from './name-cache.ts';

/** Error about bytes that aren't a valid message; `code`: code of the refusal if a server received them. */
export class MalformedMessage extends Error {
  readonly code: 'bad_request' | 'not_implemented' | 'version_not_supported';

  constructor(reason: string, code: MalformedMessage['code'] = 'bad_request') {
    super(reason);
    this.name = 'MalformedMessage';
    this.code = code;
  }
}

/** A request head, split but not interpreted (RFC 9112 §3, §5). */
export interface RequestHeadText {
  readonly method: string;
  readonly target: string;
  readonly minor: number;
  /** Names and values in turn, as received, values without surrounding whitespace. */
  readonly fields: string[];
}

/** A response head, split but not interpreted (RFC 9112 §4, §5). */
export interface ResponseHeadText {
  readonly status: number;
  readonly minor: number;
  readonly fields: string[];
}

/** The bytes that end a head. */
export const headEnd: Buffer = Buffer.from('\r\n\r\n');

const cr = 0x0d;
const lf = 0x0a;

/** Matches lines without control characters other than HTAB, separated by CRLF (RFC 9112 §2.2). */
const cleanLines = /^[\t\x20-\x7e\x80-\xff]*(?:\r\n[\t\x20-\x7e\x80-\xff]*)*$/;

/**
 * Splits a request head, given as latin1 text without the empty line at its end. The parts of the request line are
 * separated by exactly one space; folded lines and whitespace before a colon are refused.
 *
 * Throws {@link MalformedMessage}: `version_not_supported` for a well-formed version other than 1.0 and 1.1,
 * `not_implemented` for a method that is not in `methods`.
 */
export function parseRequestHead(text: string, methods: ReadonlySet<string>): RequestHeadText {
  if (!isCleanText(text)) throw new MalformedMessage('forbidden character');
  const lineEnd = endOfLine(text, 0);
  const methodEnd = text.indexOf(' ');
  const targetEnd = text.indexOf(' ', methodEnd + 1);
  if (methodEnd <= 0 || targetEnd <= methodEnd + 1 || targetEnd > lineEnd)
    throw new MalformedMessage('request line');
  const method = text.slice(0, methodEnd);
  const minor = minorVersion(text.slice(targetEnd + 1, lineEnd));
  if (!methods.has(method)) {
    if (token.test(method)) throw new MalformedMessage('unknown method', 'not_implemented');
    throw new MalformedMessage('method');
  }
  return {
    method,
    target: text.slice(methodEnd + 1, targetEnd),
    minor,
    fields: parseFields(text, lineEnd + 2),
  };
}

/** Rebuilds the bytes of a request head from its parts, without the empty line, and as HTTP/1.1. */
export function receivedHead({ method, target, fields }: Omit<RequestHeadText, 'minor'>): Buffer {
  const lines = fields.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}`, 'latin1');
}

/** Splits a response head. Throws {@link MalformedMessage}. */
export function parseResponseHead(text: string): ResponseHeadText {
  if (!isCleanText(text)) throw new MalformedMessage('forbidden character');
  const lineEnd = endOfLine(text, 0);
  const minor = text.startsWith('HTTP/1.1 ') ? 1 : text.startsWith('HTTP/1.0 ') ? 0 : -1;
  const status = Number(text.slice(9, 12));
  const after = lineEnd === 12 || text.charCodeAt(12) === 0x20;
  if (
    minor < 0 ||
    lineEnd < 12 ||
    !after ||
    !(status >= 100 && status <= 999) ||
    !/^\d{3}$/.test(text.slice(9, 12))
  )
    throw new MalformedMessage('status line');
  return { status, minor, fields: parseFields(text, lineEnd + 2) };
}

/** Splits the field lines from index `start` on into names and values in turn. Throws {@link MalformedMessage}. */
export function parseFields(text: string, start: number): string[] {
  const fields: string[] = [];
  let at = start;
  while (at < text.length) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(':', at);
    if (colon <= at || colon >= end) throw new MalformedMessage('field line');
    const name = fieldNameOf(text.slice(at, colon));
    if (name === undefined) throw new MalformedMessage('field name');
    fields.push(name, trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

/** True if the text of a head or of trailers contains only permitted characters. */
export function isCleanText(text: string): boolean {
  return cleanLines.test(text);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}

function minorVersion(text: string): number {
  if (text === 'HTTP/1.1') return 1;
  if (text === 'HTTP/1.0') return 0;
  if (/^HTTP\/\d\.\d$/.test(text)) throw new MalformedMessage('version', 'version_not_supported');
  throw new MalformedMessage('version');
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * True if the incomplete head at `from` is already malformed, so that it can be refused at once, not after a timeout. Bytes
 * before `seen` have already been checked.
 */
export function isMalformedStart(bytes: Buffer, from: number, seen: number): boolean {
  const first = bytes[from]!;
  const isTokenStart = first > 0x20 && first < 0x7f;
  if (!isTokenStart && first !== cr) return true;
  for (let at = bytes.indexOf(lf, Math.max(from, seen)); at >= 0; at = bytes.indexOf(lf, at + 1))
    if (at === from || bytes[at - 1] !== cr) return true;
  return false;
}
