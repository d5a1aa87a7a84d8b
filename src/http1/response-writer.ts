import type { Socket } from 'node:net';
import type { ResponseWriter } from './connection-options.ts';
import { lastChunk, responseHeadText } from './head-text.ts';
import { holdWrites } from './held-writes.ts';

/** Shorter pieces are copied into one write with what precedes them; longer ones aren't worth the copy. */
const onePieceBytes = 16 * 1024;

/** Writes one response to a socket: head, framing, body (RFC 9112 §4, §6, §7). */
export class SocketResponseWriter implements ResponseWriter {
  status = 0;
  ended = false;
  bodyBytes = 0;
  closes: boolean;
  readonly #socket: Socket;
  readonly #minor: number;
  readonly #isHead: boolean;
  readonly #keepAliveFields: readonly string[];
  #pendingHead = '';
  #chunked = false;
  #bodyless = false;
  /** The announced length of the body; -1 if none was announced. */
  #announced = -1;

  /** `keepAliveFields`: names and values in turn, added if the connection stays open. */
  constructor(
    socket: Socket,
    minor: number,
    isHead: boolean,
    closes: boolean,
    keepAliveFields: readonly string[],
  ) {
    this.#keepAliveFields = keepAliveFields;
    this.#socket = socket;
    this.#minor = minor;
    this.#isHead = isHead;
    this.closes = closes;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  begin(status: number, fields: readonly string[], length: number): void {
    const bodyless = this.#isHead || status === 204 || status === 304 || status < 200;
    const hasUnknownLength = length < 0 && !bodyless;
    const chunked = hasUnknownLength && this.#minor === 1;
    const closes = this.closes || (hasUnknownLength && !chunked);
    const own = hasDate(fields) ? [] : ['Date', currentDate()];
    if (length >= 0 && status !== 204) own.push('Content-Length', String(length));
    if (chunked) own.push('Transfer-Encoding', 'chunked');
    if (closes) own.push('Connection', 'close');
    else for (const text of this.#keepAliveFields) own.push(text);
    this.#pendingHead = responseHeadText(status, fields, own);
    this.status = status;
    this.closes = closes;
    this.#bodyless = bodyless;
    this.#chunked = chunked;
    this.#announced = Math.max(-1, length);
  }

  flush(): void {
    if (this.#pendingHead === '' || this.ended) return;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    this.#socket.write(head, 'latin1');
  }

  write(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    this.bodyBytes += bytes.length;
    if (this.#bodyless) return true;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    if (this.#chunked) return this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, '\r\n');
    return this.#writePiece(head, bytes, '');
  }

  end(bytes?: Buffer, trailers: readonly string[] = []): void {
    const last = this.#chunked ? lastChunk(trailers) : '';
    const head = this.#pendingHead;
    this.#pendingHead = '';
    const hasBytes = bytes !== undefined && bytes.length > 0 && !this.#bodyless;
    if (hasBytes) this.bodyBytes += bytes.length;
    // A truncated response is followed by destroying the socket, which would drop held writes.
    if (!this.cutShort) holdWrites(this.#socket);
    if (hasBytes) {
      if (this.#chunked) this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, `\r\n${last}`);
      else this.#writePiece(head, bytes, '');
    } else if (this.#chunked || head !== '') this.#socket.write(head + last, 'latin1');
    this.ended = true;
  }

  get cutShort(): boolean {
    return !this.#bodyless && this.#announced >= 0 && this.bodyBytes !== this.#announced;
  }

  sendInterim(status: number, fields: readonly string[] = []): void {
    if (this.#minor === 0 || this.begun) return;
    this.#socket.write(responseHeadText(status, fields), 'latin1');
  }

  switchProtocols(fields: readonly string[]): void {
    this.sendInterim(101, fields);
    this.status = 101;
    this.ended = true;
  }

  #writePiece(before: string, bytes: Buffer, after: string): boolean {
    const socket = this.#socket;
    if (bytes.length <= onePieceBytes) socket.write(before + bytes.toString('latin1') + after, 'latin1');
    else if (before === '' && after === '') socket.write(bytes);
    else {
      socket.cork();
      if (before !== '') socket.write(before, 'latin1');
      socket.write(bytes);
      if (after !== '') socket.write(after, 'latin1');
      socket.uncork();
    }
    // Nothing to wait for if the kernel accepted all of it at once, however much it was.
    return socket.writableLength < socket.writableHighWaterMark;
  }
}

function hasDate(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2)
    if (fields[i]!.length === 4 && fields[i]!.toLowerCase() === 'date') return true;
  return false;
}

let dateSecond = 0;
let date = '';

/** The current `Date` (RFC 9110 §6.6.1), formatted once a second. */
function currentDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
