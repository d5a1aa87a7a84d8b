import { Refusal } from '../errors.ts';
import type { BodyReader } from '../http1/server/incoming-body.ts';
import type { Exchange } from './exchange.ts';

/** Refuses a body whose declared length exceeds the limit, before any of it is read. Throws `body_too_large`. */
export function assertDeclaredSize(exchange: Exchange, maxBytes: number): void {
  if (exchange.head.framing.length > maxBytes) throw new Refusal('body_too_large');
}

const empty = Buffer.alloc(0);
/** Minimum size of the buffer, unless the limit is smaller. */
const minBufferBytes = 512;

/** Reads a whole body into a single buffer, so that the limit bounds its memory, however small the client's pieces are. */
export class WholeBody implements BodyReader {
  readonly wholeTimeoutMs: number;
  /** No minimum rate: `wholeTimeoutMs` is enough. */
  readonly leastBytesPerSecond = 0;
  readonly #exchange: Exchange;
  readonly #maxBytes: number;
  #bytes = empty;
  #length = 0;
  #isComplete = false;
  #resolve: (bytes: Buffer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(exchange: Exchange, limits: { readonly maxBytes: number; readonly timeoutMs: number }) {
    this.#exchange = exchange;
    this.#maxBytes = limits.maxBytes;
    this.wholeTimeoutMs = limits.timeoutMs;
  }

  /**
   * Starts to read; call it once. Returns the bytes if all of them have already arrived, otherwise a promise. Rejects
   * with `body_too_large`; with `request_timeout` if nothing arrives for `limits.body_idle_timeout` or the whole body
   * takes too long; with `bad_request` if its framing is malformed.
   */
  read(): Buffer | Promise<Buffer> {
    const whole = new Promise<Buffer>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#exchange.readBody(this);
    });
    return this.#isComplete ? this.#whole : whole;
  }

  /** Stops reading: `read` rejects with the error. */
  stop(error: unknown): void {
    this.#exchange.connection.release(this);
    this.#bytes = empty;
    this.#reject(error);
  }

  onBodyChunk(chunk: Buffer): void {
    const exchange = this.#exchange;
    exchange.bytesIn += chunk.length;
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) {
      this.stop(new Refusal('body_too_large'));
      return;
    }
    if (length > this.#bytes.length) this.#grow(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  #grow(length: number): void {
    const size = Math.min(this.#maxBytes, Math.max(length, 2 * this.#bytes.length, minBufferBytes));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  get #whole(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  onBodyEnd(): void {
    this.#isComplete = true;
    this.#resolve(this.#whole);
  }

  onBodyError(refusal: Refusal): void {
    this.stop(refusal);
  }
}
