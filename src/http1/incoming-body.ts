import { Refusal } from '../errors.ts';
import type { BodyPace, PaceLimits } from './body-pace.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { MalformedMessage } from './message-head.ts';
import type { RequestFraming } from './request-framing.ts';

/**
 * Reads a request body as it comes. One of `onBodyEnd` and `onBodyError` is called, once, unless the reader lets go or
 * the client does: then the exchange is over.
 */
export interface BodyReader extends PaceLimits {
  onBodyChunk(chunk: Buffer): void;
  onBodyEnd(): void;
  onBodyError(refusal: Refusal): void;
}

/** The body of one request: where it ends, and who reads it. */
export class IncomingBody {
  /** All of it has come, or there is none. */
  done: boolean;
  reader: BodyReader | null = null;
  /** How fast it comes, once somebody reads it. */
  pace: BodyPace | null = null;
  readonly #chunked: ChunkedDecoder | null;
  #left: number;

  constructor({ isChunked, length }: Pick<RequestFraming, 'isChunked' | 'length'>, maxTrailerBytes: number) {
    this.#chunked = isChunked ? new ChunkedDecoder(maxTrailerBytes) : null;
    this.#left = Math.max(0, length);
    this.done = !isChunked && this.#left === 0;
  }

  /**
   * Takes what belongs to the body from `start` on and gives it to the reader; the index after it.
   *
   * Throws `bad_request` when the framing breaks: whatever follows can't be told apart from the body.
   */
  feed(bytes: Buffer, start: number): number {
    if (this.#chunked !== null) return this.#feedChunked(this.#chunked, bytes, start);
    const end = Math.min(bytes.length, start + this.#left);
    this.#left -= end - start;
    this.done = this.#left === 0;
    this.onChunk(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
    return end;
  }

  #feedChunked(decoder: ChunkedDecoder, bytes: Buffer, start: number): number {
    try {
      const end = decoder.decode(bytes, start, this);
      this.done = decoder.done;
      return end;
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      throw new Refusal('bad_request', { close: true, cause: error.message });
    }
  }

  /** One piece of the body, decoded. */
  onChunk(chunk: Buffer): void {
    this.pace?.count(chunk.length);
    this.reader?.onBodyChunk(chunk);
  }
}
