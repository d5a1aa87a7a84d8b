import { Readable } from 'node:stream';
import { Refusal } from '../errors.ts';
import type { Exchange } from './exchange.ts';

/** Bounds of a request body: size in bytes, and the longest wait between two reads in milliseconds. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly idleTimeoutMs: number;
}

/** Refuses a body whose declared length is over the limit, before anything of it is read. Throws `body_too_large`. */
export function assertDeclaredSize(exchange: Exchange, maxBytes: number): void {
  if (exchange.head.contentLengthCount > 0 && Number(exchange.head.contentLength) > maxBytes)
    throw new Refusal('body_too_large');
}

/**
 * Reads a whole body into memory.
 *
 * Rejects with `body_too_large`, or `request_timeout` when nothing comes for the idle time; resolves to what came
 * when the client goes away half-way, for its answer reaches nobody.
 */
export function readBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer> {
  if (exchange.bodyRead) return Promise.resolve(Buffer.alloc(0));
  const { request } = exchange;
  exchange.continue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(
      () => fail(new Refusal('request_timeout', { close: true })),
      limits.idleTimeoutMs,
    );
    const onData = (chunk: Buffer) => {
      timer.refresh();
      exchange.bytesIn += chunk.length;
      if (exchange.bytesIn > limits.maxBytes) fail(new Refusal('body_too_large'));
      else chunks.push(chunk);
    };
    const done = () => {
      settle();
      exchange.bodyRead = request.complete;
      resolve(Buffer.concat(chunks));
    };
    function settle(): void {
      clearTimeout(timer);
      exchange.bodyReader = null;
      request.off('data', onData).off('end', done).off('close', done);
    }
    function fail(error: Error): void {
      settle();
      request.pause();
      reject(error);
    }
    exchange.bodyReader = fail;
    request.on('data', onData).on('end', done).on('close', done);
  });
}

/**
 * The body as a stream for the upstream, with back-pressure. Destroying it leaves the client's connection alone, so
 * that an answer can still be written; it fails with `body_too_large` or `request_timeout`.
 */
export class ForwardedBody extends Readable {
  readonly #exchange: Exchange;
  readonly #limits: BodyLimits;
  readonly #timer: NodeJS.Timeout;

  constructor(exchange: Exchange, limits: BodyLimits) {
    super({ highWaterMark: 64 * 1024 });
    this.#exchange = exchange;
    this.#limits = limits;
    this.#timer = setTimeout(this.#onSilence, limits.idleTimeoutMs);
    exchange.bodyReader = (error) => this.destroy(error);
    exchange.request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose).pause();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#timer.refresh();
    this.#exchange.bytesIn += chunk.length;
    if (this.#exchange.bytesIn > this.#limits.maxBytes) this.destroy(new Refusal('body_too_large'));
    else if (!this.push(chunk)) this.#exchange.request.pause();
  };

  readonly #onSilence = (): void => {
    // While we ask for nothing, silence is the upstream's back-pressure and not the client's doing.
    if (this.#exchange.request.isPaused()) this.#timer.refresh();
    else this.destroy(new Refusal('request_timeout', { close: true }));
  };

  readonly #onEnd = (): void => {
    this.#exchange.bodyRead = true;
    clearTimeout(this.#timer);
    this.push(null);
  };

  readonly #onClose = (): void => {
    if (!this.#exchange.request.complete) this.destroy(new Error('the client went away'));
  };

  override _read(): void {
    this.#timer.refresh();
    this.#exchange.continue();
    this.#exchange.request.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#exchange.bodyReader = null;
    const { request } = this.#exchange;
    request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose).pause();
    callback(error);
  }
}

/** How long and how much a client that was refused may go on sending before its connection is cut. */
const lingerMs = 1_000;
const lingerBytes = 1024 * 1024;

/**
 * Reads on, throwing away, until the body ends or a bound is met, then calls `done` once: closing at once with unread
 * bytes would make the kernel reset the connection and the client lose the answer (RFC 9112 §9.6).
 */
export function discardBody(exchange: Exchange, done: () => void): void {
  const { request } = exchange;
  let seen = 0;
  const timer = setTimeout(finish, lingerMs);
  const onData = (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > lingerBytes) finish();
  };
  function finish(): void {
    clearTimeout(timer);
    request.off('data', onData).off('end', finish).off('close', finish);
    done();
  }
  request.on('data', onData).on('end', finish).on('close', finish).resume();
}
