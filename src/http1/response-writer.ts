import type { Socket } from 'node:net';
import { FramedResponse } from './framed-response.ts';
import { type HeadText, lastChunk } from './head-text.ts';
import { holdWrites } from './held-writes.ts';

/** Shorter pieces are copied into one write with what precedes them; longer ones aren't worth the copy. */
const onePieceBytes = 16 * 1024;

/** Writes one response to a socket: head, framing, body (RFC 9112 §4, §6, §7). */
export class SocketResponseWriter extends FramedResponse {
  readonly #socket: Socket;
  #pendingHead = '';

  constructor(
    socket: Socket,
    minor: number,
    isHead: boolean,
    closes: boolean,
    keepAliveFields: readonly string[],
  ) {
    super(minor, isHead, closes, keepAliveFields);
    this.#socket = socket;
  }

  protected writeHead(head: HeadText): void {
    this.#pendingHead = head;
  }

  protected writeInterim(head: HeadText): void {
    this.#socket.write(head, 'latin1');
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
    if (this.bodyless) return true;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    if (this.chunked) return this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, '\r\n');
    return this.#writePiece(head, bytes, '');
  }

  end(bytes?: Buffer, trailers: readonly string[] = []): void {
    const last = this.chunked ? lastChunk(trailers) : '';
    const head = this.#pendingHead;
    this.#pendingHead = '';
    const hasBytes = bytes !== undefined && bytes.length > 0 && !this.bodyless;
    if (hasBytes) this.bodyBytes += bytes.length;
    // A truncated response is followed by destroying the socket, which would drop held writes.
    if (!this.cutShort) holdWrites(this.#socket);
    if (hasBytes) {
      if (this.chunked) this.#writePiece(`${head}${bytes.length.toString(16)}\r\n`, bytes, `\r\n${last}`);
      else this.#writePiece(head, bytes, '');
    } else if (this.chunked || head !== '') this.#socket.write(head + last, 'latin1');
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
