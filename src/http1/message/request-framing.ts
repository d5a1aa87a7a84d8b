/** Framing of a request's body, and whether its connection closes (RFC 9112 §6.3, §9.3). */
export interface RequestFraming {
  readonly isChunked: boolean;
  /** `Content-Length` in bytes; -1 if there is none. */
  readonly length: number;
  /** True if the client wants the connection closed after the response. */
  readonly closes: boolean;
  /** True if two readers could disagree on the body's end (RFC 9112 §6.1, §6.3, §11.2): the request must then be refused. */
  readonly isAmbiguous: boolean;
}

/** Framing of most requests, by minor version: no body, and the version's default for closing the connection. */
const defaults: readonly RequestFraming[] = [
  { isChunked: false, length: -1, closes: true, isAmbiguous: false },
  { isChunked: false, length: -1, closes: false, isAmbiguous: false },
];

/** Reads the framing of an HTTP/1.`minor` request; `fields` are names and values in turn. Never throws. */
export function requestFraming(minor: number, fields: readonly string[]): RequestFraming {
  let lengthText: string | null = null;
  let coding: string | null = null;
  let connection: string | null = null;
  let isAmbiguous = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    switch (name.length) {
      case 10:
        if (name.toLowerCase() !== 'connection') break;
        connection = connection === null ? fields[i + 1]! : `${connection},${fields[i + 1]}`;
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        isAmbiguous ||= lengthText !== null;
        lengthText = fields[i + 1]!;
        break;
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        isAmbiguous ||= coding !== null;
        coding = fields[i + 1]!;
        break;
    }
  }
  const closes = connection === null ? minor === 0 : closesAfter(connection, minor);
  if (lengthText === null && coding === null && closes === (minor === 0)) return defaults[minor]!;
  if (coding !== null)
    isAmbiguous ||= lengthText !== null || minor === 0 || coding.toLowerCase() !== 'chunked';
  const length = lengthText === null ? -1 : lengthOf(lengthText);
  if (lengthText !== null && length < 0) isAmbiguous = true;
  return { isChunked: coding !== null, length, closes, isAmbiguous };
}

/** True if a body follows the head. */
export function hasBody({ isChunked, length }: RequestFraming): boolean {
  return isChunked || length > 0;
}

function closesAfter(connection: string, minor: number): boolean {
  if (connection === 'keep-alive') return false;
  const options = connection.split(',').map((option) => option.trim().toLowerCase());
  return options.includes('close') || (minor === 0 && !options.includes('keep-alive'));
}

/** The number written in 1-15 digits, few enough to be exact; -1 for anything else. */
function lengthOf(text: string): number {
  if (text === '' || text.length > 15) return -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return -1;
  }
  return Number(text);
}
