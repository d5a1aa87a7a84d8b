import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ResponseWriter } from '../http1/connection-options.ts';
import { lastChunk, responseHeadText } from '../http1/head-text.ts';

/** Writes one response through `node:http`, which frames it; heads are checked as the built-in engine checks them. */
export class NodeResponse implements ResponseWriter {
  status = 0;
  ended = false;
  bodyBytes = 0;
  closes: boolean;
  readonly #keepAliveFields: readonly string[];
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  #bodyless = false;
  #owed = -1;

  constructor(response: ServerResponse, socket: Socket, closes: boolean, keepAliveFields: readonly string[]) {
    this.#keepAliveFields = keepAliveFields;
    this.#response = response;
    this.#socket = socket;
    this.closes = closes;
  }

  /** Whether the client speaks HTTP/1.0. */
  get #isOld(): boolean {
    return this.#response.req.httpVersionMinor === 0;
  }

  get begun(): boolean {
    return this.status !== 0;
  }

  get cutShort(): boolean {
    return !this.#bodyless && this.#owed >= 0 && this.bodyBytes !== this.#owed;
  }

  begin(status: number, fields: readonly string[], length: number): void {
    const bodyless = this.#response.req.method === 'HEAD' || status === 204 || status === 304;
    const closes = this.closes || (length < 0 && !bodyless && this.#isOld);
    const own = length >= 0 && status !== 204 ? ['Content-Length', String(length)] : [];
    // Node would close after an expectation that got no 100.
    own.push(...(closes ? ['Connection', 'close'] : this.#keepAliveFields));
    responseHeadText(status, fields, own);
    this.#response.writeHead(status, STATUS_CODES[status] ?? '', [...fields, ...own]);
    this.status = status;
    this.closes = closes;
    this.#bodyless = bodyless;
    this.#owed = length;
  }

  flush(): void {
    // `flushHeaders` would write the head as UTF-8.
    if (this.begun && !this.ended) this.#response.write('', 'latin1');
  }

  write(bytes: Buffer): boolean {
    this.bodyBytes += bytes.length;
    return this.#bodyless || bytes.length === 0 || this.#response.write(bytes);
  }

  end(bytes?: Buffer, trailers: readonly string[] = []): void {
    if (trailers.length > 0) this.#addTrailers(trailers);
    if (bytes !== undefined && !this.#bodyless) this.bodyBytes += bytes.length;
    this.ended = true;
    this.#response.end(bytes);
  }

  #addTrailers(trailers: readonly string[]): void {
    lastChunk(trailers);
    const pairs: [string, string][] = [];
    for (let i = 0; i < trailers.length; i += 2) pairs.push([trailers[i]!, trailers[i + 1]!]);
    this.#response.addTrailers(pairs);
  }

  sendInterim(status: number, fields: readonly string[] = []): void {
    if (this.#isOld || this.begun) return;
    if (status === 100) this.#response.writeContinue();
    else this.#socket.write(responseHeadText(status, fields), 'latin1');
  }

  switchProtocols(fields: readonly string[]): void {
    this.sendInterim(101, fields);
    this.status = 101;
    this.ended = true;
  }
}
