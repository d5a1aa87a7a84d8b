import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type CheckedLines, type FieldBlock, type HeadText, lastChunk } from '../http1/message/head-text.ts';
import { parseFields } from '../http1/message/message-head.ts';
import { FramedResponse } from '../http1/server/framed-response.ts';

/** Writes one response through `node:http`; heads are checked as the built-in engine checks them. */
export class NodeResponse extends FramedResponse {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse, closes: boolean, keepAlive: FieldBlock) {
    const { httpVersionMinor, method } = response.req;
    super(httpVersionMinor, method === 'HEAD', closes, keepAlive);
    this.#response = response;
  }

  protected writeHead(
    _checked: HeadText,
    status: number,
    fields: readonly string[],
    after: CheckedLines,
  ): void {
    this.#response.writeHead(status, STATUS_CODES[status] ?? '', [...fields, ...parseFields(after, 0)]);
  }

  protected writeInterim(head: HeadText): void {
    this.#response.socket?.write(head, 'latin1');
  }

  flush(): void {
    // `flushHeaders` would write the head as UTF-8.
    if (this.begun && !this.ended) this.#response.write('', 'latin1');
  }

  write(bytes: Buffer): boolean {
    this.bodyBytes += bytes.length;
    return this.#response.write(bytes);
  }

  end(bytes?: Buffer, trailers: readonly string[] = []): void {
    if (this.chunked && trailers.length > 0) {
      lastChunk(trailers);
      const pairs: [string, string][] = [];
      for (let i = 0; i < trailers.length; i += 2) pairs.push([trailers[i]!, trailers[i + 1]!]);
      this.#response.addTrailers(pairs);
    }
    if (bytes !== undefined) this.bodyBytes += bytes.length;
    this.ended = true;
    this.#response.end(bytes);
  }
}
