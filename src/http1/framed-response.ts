import type { ResponseWriter } from './connection-options.ts';
import { type HeadText, responseHeadText } from './head-text.ts';

/** How one response is framed, whatever writes it, and whether its connection stays open (RFC 9112 §6, §9.3). */
export abstract class FramedResponse implements ResponseWriter {
  status = 0;
  ended = false;
  bodyBytes = 0;
  closes: boolean;
  protected chunked = false;
  protected bodyless = false;
  readonly #minor: number;
  readonly #isHead: boolean;
  readonly #keepAliveFields: readonly string[];
  /** The announced length of the body; -1 if none was announced. */
  #announced = -1;

  /** `keepAliveFields`: names and values in turn, added if the connection stays open. */
  constructor(minor: number, isHead: boolean, closes: boolean, keepAliveFields: readonly string[]) {
    this.#keepAliveFields = keepAliveFields;
    this.#minor = minor;
    this.#isHead = isHead;
    this.closes = closes;
  }

  /** Writes the head, or keeps it for the first bytes of the body; `fields` and `own` are what it was made of. */
  protected abstract writeHead(
    head: HeadText,
    status: number,
    fields: readonly string[],
    own: readonly string[],
  ): void;
  protected abstract writeInterim(head: HeadText): void;
  abstract flush(): void;
  abstract write(bytes: Buffer): boolean;
  abstract end(bytes?: Buffer, trailers?: readonly string[]): void;

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
    this.writeHead(responseHeadText(status, fields, own), status, fields, own);
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
