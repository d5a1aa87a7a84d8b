import { Refusal } from '../errors.ts';
import type { BodyReader } from '../http1/incoming-body.ts';
import type { Exchange } from './exchange.ts';

/** Refuses a body whose declared length is over the limit, before anything of it is read. Throws `body_too_large`. */
export function assertDeclaredSize(exchange: Exchange, maxBytes: number): void {
  if (exchange.head.framing.length > maxBytes) throw new Refusal('body_too_large');
}

const empty = Buffer.alloc(0);
/** What the first bytes of a body are given room for. */
const leastRoomBytes = 512;

/**
 * Reads a whole body into memory: into one buffer, so that what it holds is bounded by the limit and not by how the
 * client cut its bytes.
 */
export class WholeBody implements BodyReader {
  readonly wholeTimeoutMs: number;
  /** The bound of the whole time is bound enough. */
  readonly leastBytesPerSecond = 0;
  readonly #exchange: Exchange;
  readonly #maxBytes: number;
  #bytes = empty;
  #length = 0;
  #isWhole = false;
  #resolve: (bytes: Buffer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** `timeoutMs` bounds the time of the whole body. */
  constructor(exchange: Exchange, limits: { readonly maxBytes: number; readonly timeoutMs: number }) {
    this.#exchange = exchange;
    this.#maxBytes = limits.maxBytes;
    this.wholeTimeoutMs = limits.timeoutMs;
  }

  /**
   * Starts to read; once. The bytes at once when all of them are here already, otherwise a promise that rejects with
   * `body_too_large`, `request_timeout` when nothing comes for `limits.body_idle_timeout` or all of it takes too long,
   * `bad_request` when its framing breaks.
   */
  read(): Buffer | Promise<Buffer> {
    const whole = new Promise<Buffer>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#exchange.readBody(this);
    });
    return this.#isWhole ? this.#whole : whole;
  }

  /** Reads no further: `read` rejects with the error. */
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
    if (length > this.#bytes.length) this.#makeRoom(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  #makeRoom(length: number): void {
    const room = Math.min(this.#maxBytes, Math.max(length, 2 * this.#bytes.length, leastRoomBytes));
    const larger = Buffer.allocUnsafeSlow(room);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  get #whole(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  onBodyEnd(): void {
    this.#isWhole = true;
    this.#resolve(this.#whole);
  }

  onBodyError(refusal: Refusal): void {
    this.stop(refusal);
  }
}
