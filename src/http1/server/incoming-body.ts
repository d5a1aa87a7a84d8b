import { Refusal } from '../../errors.ts';
import { ChunkedDecoder } from '../message/chunked-decoder.ts';
import { MalformedMessage } from '../message/message-head.ts';
import type { RequestFraming } from '../message/request-framing.ts';
import type { BodyPace, PaceLimits } from './body-pace.ts';

/**
 * Reads a request body as it arrives. Exactly one of `onBodyEnd` and `onBodyError` is called, once; neither is called if the
 * reader is released or the client disconnects first.
 */
export interface BodyReader extends PaceLimits {
  onBodyChunk(chunk: Buffer): void;
  onBodyEnd(): void;
  onBodyError(refusal: Refusal): void;
}

/** Body of a request, with its framing, its reader and its pace. */
export class IncomingBody {
  /** True once the whole body has arrived, or if there is none. */
  done: boolean;
  reader: BodyReader | null = null;
  pace: BodyPace | null = null;
  readonly #chunked: ChunkedDecoder | null;
  #left: number;

  constructor({ isChunked, length }: Pick<RequestFraming, 'isChunked' | 'length'>, maxTrailerBytes: number) {
    this.#chunked = isChunked ? new ChunkedDecoder(maxTrailerBytes) : null;
    this.#left = Math.max(0, length);
    this.done = !isChunked && this.#left === 0;
  }

  /**
   * Passes the part of the body that begins at `start` of `bytes` to the reader; returns the index after that part.
   *
   * Throws `bad_request` if the framing is malformed: the end of the body is then unknown.
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

  end(): void {
    const { reader } = this;
    this.done = true;
    this.reader = null;
    reader?.onBodyEnd();
  }

  onChunk(chunk: Buffer): void {
    this.pace?.count(chunk.length);
    this.reader?.onBodyChunk(chunk);
  }
}
