import { Refusal } from '../errors.ts';
import type { Exchange } from './exchange.ts';

/** Refuses a body whose declared length is over the limit, before anything of it is read. Throws `body_too_large`. */
export function assertDeclaredSize(exchange: Exchange, maxBytes: number): void {
  if (exchange.head.contentLengthCount > 0 && Number(exchange.head.contentLength) > maxBytes)
    throw new Refusal('body_too_large');
}

/**
 * Reads a whole body into memory.
 *
 * Rejects with `body_too_large`, `request_timeout` when nothing comes for `limits.body_idle_timeout`, `bad_request`
 * when its framing breaks.
 */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  if (exchange.bodyDone) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const reader = {
      onBodyChunk(chunk: Buffer) {
        exchange.bytesIn += chunk.length;
        if (exchange.bytesIn <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        exchange.connection.release(reader);
        reject(new Refusal('body_too_large'));
      },
      onBodyEnd: () => resolve(Buffer.concat(chunks)),
      onBodyError: reject,
    };
    exchange.readBody(reader);
  });
}
