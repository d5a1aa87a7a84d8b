import {
  type CheckedLines,
  type FieldBlock,
  framingLines,
  type HeadText,
  responseHeadText,
} from '../message/head-text.ts';
import type { ResponseWriter } from './connection-options.ts';

/** Base of response writers: decides on the framing, and whether the connection stays open (RFC 9112 §6, §9.3). */
export abstract class FramedResponse implements ResponseWriter {
  status = 0;
  ended = false;
  bodyBytes = 0;
  closes: boolean;
  protected chunked = false;
  protected bodyless = false;
  readonly #minor: number;
  readonly #isHead: boolean;
  readonly #keepAlive: FieldBlock;
  /** Announced length of the body in bytes; -1 if none was announced. */
  #announced = -1;

  /** `keepAlive`: headers added if the connection stays open. */
  constructor(minor: number, isHead: boolean, closes: boolean, keepAlive: FieldBlock) {
    this.#keepAlive = keepAlive;
    this.#minor = minor;
    this.#isHead = isHead;
    this.closes = closes;
  }

  /** Writes the head, whose text `head` contains `fields` and `after`, or keeps it to send with the first bytes of the body. */
  protected abstract writeHead(
    head: HeadText,
    status: number,
    fields: readonly string[],
    after: CheckedLines,
  ): void;
  protected abstract writeInterim(head: HeadText): void;
  abstract flush(): void;
  abstract write(bytes: Buffer): boolean;
  abstract end(bytes?: Buffer, trailers?: readonly string[]): void;

  get begun(): boolean {
    return this.status !== 0;
  }

  begin(status: number, fields: readonly string[], length: number, block: FieldBlock | null = null): void {
    const bodyless = this.#isHead || status === 204 || status === 304 || status < 200;
    const hasUnknownLength = length < 0 && !bodyless;
    const chunked = hasUnknownLength && this.#minor === 1;
    const closes = this.closes || (hasUnknownLength && !chunked);
    const announced = status === 204 ? -1 : length;
    const framing = framingLines(hasDate(fields), announced, chunked, closes ? null : this.#keepAlive);
    const after = block === null ? framing : ((block.lines + framing) as CheckedLines);
    this.writeHead(responseHeadText(status, fields, after), status, fields, after);
    this.status = status;
    this.closes = closes;
    this.bodyless = bodyless;
    this.chunked = chunked;
    this.#announced = Math.max(-1, length);
  }

  get cutShort(): boolean {
    return !this.bodyless && this.#announced >= 0 && this.bodyBytes !== this.#announced;
  }

  sendInterim(status: number, fields: readonly string[] = []): void {
    if (this.#minor === 0 || this.begun) return;
    this.writeInterim(responseHeadText(status, fields));
  }

  switchProtocols(fields: readonly string[]): void {
    this.sendInterim(101, fields);
    this.status = 101;
    this.ended = true;
  }
}

function hasDate(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2)
    if (fields[i]!.length === 4 && fields[i]!.toLowerCase() === 'date') return true;
  return false;
}
