import { passedOnBytes } from '../client/socket-reads.ts';
import { type FieldBlock, type HeadText, lastChunk } from '../message/head-text.ts';
import type { Output } from '../message/output.ts';
import { FramedResponse } from './framed-response.ts';

/**
 * Maximum length of a piece of the body that is copied into one write with the text around it, so that its buffer may be reused;
 * for a longer piece, the copy costs more than it saves.
 */
const onePieceBytes = passedOnBytes;

/** Writes one response on a connection: head, framing, body (RFC 9112 §4, §6, §7). */
export class SocketResponseWriter extends FramedResponse {
  readonly #output: Output;
  #pendingHead = '';

  constructor(output: Output, minor: number, isHead: boolean, closes: boolean, keepAlive: FieldBlock) {
    super(minor, isHead, closes, keepAlive);
    this.#output = output;
  }

  protected writeHead(head: HeadText): void {
    this.#pendingHead = head;
  }

  protected writeInterim(head: HeadText): void {
    this.#output.write(head);
  }

  flush(): void {
    if (this.#pendingHead === '' || this.ended) return;
    const head = this.#pendingHead;
    this.#pendingHead = '';
    this.#output.write(head);
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
    const size = hasBytes && this.chunked ? `${bytes.length.toString(16)}\r\n` : '';
    const after = size === '' ? last : `\r\n${last}`;
    if (hasBytes && bytes.length > onePieceBytes) this.#output.writeBytes(head + size, bytes, after);
    else this.#sendLast(head + size + (hasBytes ? bytes.toString('latin1') : '') + after);
    this.ended = true;
  }

  #sendLast(text: string): void {
    if (text === '') return;
    // After a truncated response, the socket is destroyed, which would drop held text.
    if (this.cutShort) this.#output.write(text);
    else this.#output.hold(text);
  }

  #writePiece(before: string, bytes: Buffer, after: string): boolean {
    if (bytes.length <= onePieceBytes) this.#output.write(before + bytes.toString('latin1') + after);
    else this.#output.writeBytes(before, bytes, after);
    return this.#output.keepsUp;
  }
}
