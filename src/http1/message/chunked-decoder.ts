import { isCleanText, MalformedMessage, parseFields } from './message-head.ts';

/** Receives the bytes of a body as they are decoded. */
export interface ChunkSink {
  onChunk(chunk: Buffer): void;
}

const state = {
  size: 0,
  extension: 1,
  sizeEnd: 2,
  data: 3,
  dataCr: 4,
  dataLf: 5,
  trailer: 6,
  done: 7,
} as const;
type State = (typeof state)[keyof typeof state];

const cr = 0x0d;
const lf = 0x0a;
/** Maximum number of hexadecimal digits in a chunk size: no real chunk has 2^48 bytes or more. */
const maxSizeDigits = 12;
const maxExtensionBytes = 1024;
const tchar = "[!#$%&'*+.^_`|~0-9A-Za-z-]";
const quoted = '(?:[\\t !#-[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*';
const extension = `${tchar}+(?:=(?:${tchar}+|"${quoted}"))?`;
/** Matches a chunk's extensions after the first `;`, each `token[=token|quoted-string]`, no whitespace (RFC 9112 §7.1.1). */
const wholeExtensions = new RegExp(`^${extension}(?:;${extension})*$`);
/** Matches the beginning of valid extensions, so that malformed ones are refused at once, not after a timeout. */
const begunExtensions = new RegExp(
  `^(?:${extension};)*(?:${tchar}+=(?:"${quoted}["\\\\]?|${tchar}*)|${tchar}*)$`,
);
/** Maximum number of decoded pieces passed on one by one; more are joined, lest chunks of one byte cost one write each. */
const fewPieces = 4;

/**
 * Decodes the chunked coding (RFC 9112 §7.1) strictly: hexadecimal sizes, only CRLF, bounded extensions and
 * trailers. Throws {@link MalformedMessage}.
 */
export class ChunkedDecoder {
  /** True once the last chunk and the trailers have been read: further bytes belong to the next message. */
  done = false;
  readonly #maxTrailerBytes: number;
  #state: State = state.size;
  #digits = 0;
  #left = 0;
  #extensionText = '';
  #trailerText = '';
  #trailers: string[] = [];

  constructor(maxTrailerBytes: number) {
    this.#maxTrailerBytes = maxTrailerBytes;
  }

  /** Returns the trailers, names and values in turn, once `done`; a second call returns none. */
  takeTrailers(): string[] {
    const trailers = this.#trailers;
    this.#trailers = [];
    this.#trailerText = '';
    return trailers;
  }

  /** Decodes the bytes from `start` on into `sink`; returns the index after the last byte that belongs to this body. */
  decode(bytes: Buffer, start: number, sink: ChunkSink): number {
    const pieces: Buffer[] = [];
    let at = start;
    while (at < bytes.length && !this.done) {
      if (this.#state === state.data) {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#state = state.dataCr;
        pieces.push(bytes.subarray(at, end));
        at = end;
      } else if (this.#state === state.trailer) at = this.#readTrailer(bytes, at);
      else if (this.#state === state.extension) at = this.#readExtensions(bytes, at);
      else this.#readByte(bytes[at++]!);
    }
    if (pieces.length > fewPieces) sink.onChunk(Buffer.concat(pieces));
    else for (const piece of pieces) sink.onChunk(piece);
    return at;
  }

  #readByte(byte: number): void {
    switch (this.#state) {
      case state.size: {
        const digit = hexDigit(byte);
        if (digit >= 0) {
          if (++this.#digits > maxSizeDigits) throw new MalformedMessage('chunk size');
          this.#left = this.#left * 16 + digit;
        } else if (this.#digits === 0) throw new MalformedMessage('chunk size');
        else if (byte === cr) this.#state = state.sizeEnd;
        else if (byte === 0x3b) this.#state = state.extension;
        else throw new MalformedMessage('chunk size');
        return;
      }
      case state.sizeEnd:
        if (byte !== lf) throw new MalformedMessage('chunk size');
        this.#state = this.#left === 0 ? state.trailer : state.data;
        this.#digits = 0;
        return;
      case state.dataCr:
        if (byte !== cr) throw new MalformedMessage('chunk end');
        this.#state = state.dataLf;
        return;
      case state.dataLf:
        if (byte !== lf) throw new MalformedMessage('chunk end');
        this.#state = state.size;
        return;
    }
  }

  #readExtensions(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(cr, from);
    const room = maxExtensionBytes + 1 - this.#extensionText.length;
    const until = Math.min(end < 0 ? bytes.length : end, from + room);
    const text = this.#extensionText + bytes.toString('latin1', from, until);
    const pattern = end < 0 ? begunExtensions : wholeExtensions;
    if (text.length > maxExtensionBytes || !pattern.test(text)) throw new MalformedMessage('chunk extension');
    this.#extensionText = end < 0 ? text : '';
    if (end < 0) return bytes.length;
    this.#state = state.sizeEnd;
    return end + 1;
  }

  /** Reads trailers, which end with an empty line, as heads do; returns the index after the bytes read. */
  #readTrailer(bytes: Buffer, from: number): number {
    const before = this.#trailerText.length;
    const room = this.#maxTrailerBytes + 4 - before;
    const text = this.#trailerText + bytes.toString('latin1', from, Math.min(bytes.length, from + room));
    const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (end < 0) {
      // A malformed trailer is reported at once, not after a timeout. Only new text is checked, except that a CR at its
      // end is checked later, together with the next bytes.
      const endsWithCr = text.charCodeAt(text.length - 1) === cr;
      const uncheckedFrom = before > 0 && text.charCodeAt(before - 1) === cr ? before - 1 : before;
      const checkable = text.slice(uncheckedFrom, endsWithCr ? -1 : undefined);
      if (text.length >= this.#maxTrailerBytes + 4 || !isCleanText(checkable))
        throw new MalformedMessage('trailers');
      this.#trailerText = text;
      return bytes.length;
    }
    if (end > 0) {
      // Parsed even if the trailers are dropped: malformed lines must not be accepted as the end of a message.
      if (!isCleanText(text.slice(0, end))) throw new MalformedMessage('trailers');
      this.#trailers = parseFields(text.slice(0, end), 0);
    }
    this.done = true;
    this.#state = state.done;
    return from + (end === 0 ? 2 : end + 4) - before;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
