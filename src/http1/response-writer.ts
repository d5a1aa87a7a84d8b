import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Short pieces go out as text in one write with what precedes them; longer ones are not worth the copy. */
const onePieceBytes = 16 * 1024;

/** Writes one answer on a connection: head, framing, body (RFC 9112 §4, §6, §7). */
export class AnswerWriter {
  /** The status, 0 before {@link begin}. */
  status = 0;
  ended = false;
  /** Bytes of the body so far. */
  bodyBytes = 0;
  /** The connection ends with this answer; may be set until `begin`. */
  closes: boolean;
  readonly #socket: Socket;
  readonly #minor: number;
  readonly #isHead: boolean;
  readonly #keepAliveText: string;
  #pendingHead = '';
  #chunked = false;
  #bodyless = false;
  /** Bytes still owed of a body whose length was said; -1 when it wasn't. */
  #owed = -1;

  /** `keepAliveText`: field lines, CRLF included, for an answer that leaves the connection open. */
  constructor(socket: Socket, minor: number, isHead: boolean, closes: boolean, keepAliveText: string) {
    this.#keepAliveText = keepAliveText;
    this.#socket = socket;
    this.#minor = minor;
    this.#isHead = isHead;
    this.closes = closes;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  /**
   * Starts the answer. `fields` are names and values in turn, without framing; `length` is that of the body in bytes,
   * -1 when it isn't known. Nothing is sent before the first bytes of the body, the end, or {@link flush}.
   */
  begin(status: number, fields: readonly string[], length: number): void {
    this.status = status;
    this.#bodyless = this.#isHead || status === 204 || status === 304 || status < 200;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    let saysDate = false;
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i]!;
      if (name.length === 4 && name.toLowerCase() === 'date') saysDate = true;
      head += `${name}: ${fields[i + 1]}\r\n`;
    }
    if (!saysDate) head += `Date: ${dateText()}\r\n`;
    if (length >= 0) {
      if (status !== 204) head += `Content-Length: ${length}\r\n`;
      this.#owed = length;
    } else if (!this.#bodyless) {
      if (this.#minor === 1) {
        this.#chunked = true;
        head += 'Transfer-Encoding: chunked\r\n';
      } else this.closes = true;
    }
    head += this.closes ? 'Connection: close\r\n' : this.#keepAliveText;
    this.#pendingHead = `${head}\r\n`;
  }

  /** Sends the head if it still waits for the first bytes of the body. */
  flush(): void {
    if (this.#pendingHead === '' || this.ended) return;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    this.#socket.write(head, 'latin1');
  }

  /** Sends bytes of the body; false when the client does not keep up. */
  write(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    this.bodyBytes += bytes.length;
    if (this.#bodyless) return true;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    if (this.#chunked) return this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, '\r\n');
    return this.#writePiece(head, bytes, '');
  }

  /** Ends the answer, with the last bytes of its body if there are some and with trailers where the framing has room. */
  end(bytes?: Buffer, trailers: readonly string[] = []): void {
    if (bytes !== undefined && bytes.length > 0 && !this.#bodyless) {
      this.bodyBytes += bytes.length;
      const head = this.#pendingHead;
      this.#pendingHead = '';
      if (this.#chunked)
        this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, `\r\n${lastChunk(trailers)}`);
      else this.#writePiece(head, bytes, '');
    } else if (this.#chunked || this.#pendingHead !== '') {
      const head = this.#pendingHead;
      this.#pendingHead = '';
      this.#socket.write(this.#chunked ? head + lastChunk(trailers) : head, 'latin1');
    }
    this.ended = true;
  }

  /** Whether a body whose length was said came to another one: the connection can't be used any more. */
  get cutShort(): boolean {
    return !this.#bodyless && this.#owed >= 0 && this.bodyBytes !== this.#owed;
  }

  /** An interim answer (RFC 9110 §15.2): to HTTP/1.1 alone, before the final one. */
  inform(status: number, fields: readonly string[] = []): void {
    if (this.#minor === 0 || this.begun) return;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    for (let i = 0; i < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`;
    this.#socket.write(`${head}\r\n`, 'latin1');
  }

  /** Agrees to another protocol (RFC 9110 §15.2.2): the last that is written as HTTP. */
  switchProtocols(fields: readonly string[]): void {
    this.inform(101, fields);
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
    // What the kernel took at once needn't be waited for, however much it was.
    return socket.writableLength < socket.writableHighWaterMark;
  }
}

function lastChunk(trailers: readonly string[]): string {
  let text = '0\r\n';
  for (let i = 0; i < trailers.length; i += 2) text += `${trailers[i]}: ${trailers[i + 1]}\r\n`;
  return `${text}\r\n`;
}

let dateSecond = 0;
let date = '';

/** The current `Date` (RFC 9110 §6.6.1), made once a second. */
function dateText(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1000).toUTCString();
  }
  return date;
}
