import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** Maximum number of pending bytes if the reader is stalled; beyond it, new lines are dropped rather than memory exhausted. */
const maxPendingBytes = 32 * 1024 * 1024;
/** Size of a batch, bytes; a smaller one is written once its oldest line has waited for {@link maxDelayMs}. */
const batchBytes = 64 * 1024;
const maxDelayMs = 100;
/** Pause after a failed write (the reader is behind, or the disk full), ms; doubled after each further one. */
const initialPauseMs = 1;
const maxPauseMs = 100;
/** Size of the pieces of memory into which lines are encoded, bytes; a longer line gets a piece of its own. */
const pieceBytes = 64 * 1024;
/** Maximum number of UTF-8 bytes for one UTF-16 code unit. */
const mostBytesPerUnit = 3;
const maxFlushMs = 1_000;
const flushPauseMs = 10;
const nothing = Buffer.alloc(0);

/** Creates a writer to a file, created if missing, or to a descriptor; it never waits for a pipe, socket or terminal. */
export function createLineWriter(destination: number | string): LineWriter {
  return new LineWriter(
    typeof destination === 'string'
      ? { descriptor: openSync(destination, 'a') }
      : openWithoutBlocking(destination),
  );
}

/** A descriptor, and the object, if any, that would close it when garbage-collected. */
interface Outlet {
  readonly descriptor: number;
  readonly owner?: Socket;
}

/**
 * Opens a descriptor's file in non-blocking mode, so that a write that would have to wait for a reader fails at once: a blocked
 * write would hold a thread of the pool, and a process waits for its threads to exit. A pipe or terminal is opened again, because
 * other holders of the descriptor don't expect such failures; a socket can't be, so `Socket` switches its mode.
 */
function openWithoutBlocking(descriptor: number): Outlet {
  const kind = fstatSync(descriptor);
  if (!kind.isFIFO() && !kind.isSocket() && !isatty(descriptor)) return { descriptor };
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return { descriptor: openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY) };
  } catch {
    return withoutBlocking(descriptor);
  }
}

function withoutBlocking(descriptor: number): Outlet {
  try {
    return { descriptor, owner: new Socket({ fd: descriptor, readable: false }) };
  } catch {
    // Another user's terminal or a datagram socket: the descriptor itself is used.
    return { descriptor };
  }
}

/** Writes lines in batches; a stalled reader never blocks it. */
export class LineWriter {
  readonly #outlet: Outlet;
  /** Whole lines, encoded: strings kept for a tenth of a second would be copied by every garbage collection. */
  #pieces: Buffer[] = [];
  /** The last piece, filled up to `#lastEnd`. */
  #last = Buffer.allocUnsafeSlow(pieceBytes);
  #lastEnd = 0;
  /** The rest of the piece that is being written. */
  #rest: Buffer = nothing;
  #pendingBytes = 0;
  #isWriting = false;
  /** True while a thread of the pool is writing the rest; false while waiting for the next attempt. */
  #isInThread = false;
  #pauseMs = initialPauseMs;
  #timer: NodeJS.Timeout | null = null;
  #onSettled: (() => void)[] = [];

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  write(line: string): void {
    if (this.#pendingBytes + line.length > maxPendingBytes) return;
    this.#pendingBytes += this.#encode(line);
    if (!this.#isWriting) this.#writeFullBatch();
  }

  #encode(line: string): number {
    const mostBytes = line.length * mostBytesPerUnit;
    if (this.#last.length - this.#lastEnd < mostBytes) this.#closeLast();
    if (mostBytes > this.#last.length) return this.#pieces[this.#pieces.push(Buffer.from(line)) - 1]!.length;
    const bytes = this.#last.write(line, this.#lastEnd);
    this.#lastEnd += bytes;
    return bytes;
  }

  #closeLast(): void {
    if (this.#lastEnd === 0) return;
    const filled = this.#last.subarray(0, this.#lastEnd);
    this.#lastEnd = 0;
    // Pending lines must not take much more memory than their bytes.
    if (filled.length < pieceBytes / 2) this.#pieces.push(Buffer.from(filled));
    else {
      this.#pieces.push(filled);
      this.#last = Buffer.allocUnsafeSlow(pieceBytes);
    }
  }

  /** Writes everything pending, synchronously; gives up if the reader has stalled or gone. */
  flush(): void {
    // The thread that is writing the rest will finish it.
    if (this.#isInThread) this.#take(this.#rest.length);
    this.#isInThread = false;
    const giveUpAt = performance.now() + maxFlushMs;
    while (this.#pendingBytes > 0) {
      try {
        this.#take(writeSync(this.#outlet.descriptor, this.#nextBytes()));
      } catch (error) {
        if (!isReaderStalled(error) || performance.now() > giveUpAt) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, flushPauseMs);
      }
    }
  }

  /** Resolves once everything pending has been written, or writing has failed. */
  written(): Promise<void> {
    if (this.#pendingBytes === 0) return Promise.resolve();
    if (!this.#isWriting) this.#writeNext();
    return new Promise((resolve) => this.#onSettled.push(resolve));
  }

  #writeFullBatch(): void {
    if (this.#pendingBytes >= batchBytes) this.#writeNext();
    else if (this.#pendingBytes > 0) this.#timer ??= setTimeout(this.#onDelayOver, maxDelayMs).unref();
  }

  readonly #onDelayOver = (): void => {
    this.#timer = null;
    if (!this.#isWriting) this.#writeNext();
  };

  readonly #writeNext = (): void => {
    this.#isWriting = this.#pendingBytes > 0;
    this.#isInThread = this.#isWriting;
    if (this.#isWriting) write(this.#outlet.descriptor, this.#nextBytes(), this.#onWritten);
    else this.#settle();
  };

  readonly #onWritten = (error: NodeJS.ErrnoException | null, bytes: number): void => {
    // Otherwise the rest was flushed in the meantime.
    if (error === null && this.#isInThread) this.#take(bytes);
    this.#isInThread = false;
    if (error === null) {
      this.#pauseMs = initialPauseMs;
      this.#continue();
    } else {
      if (!isReaderStalled(error)) this.#settle();
      setTimeout(this.#writeNext, this.#pauseMs).unref();
      this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
    }
  };

  #continue(): void {
    this.#isWriting = false;
    if (this.#rest.length > 0 || this.#onSettled.length > 0) this.#writeNext();
    else this.#writeFullBatch();
  }

  #nextBytes(): Buffer {
    if (this.#rest.length > 0) return this.#rest;
    if (this.#pieces.length === 0) this.#closeLast();
    this.#rest = this.#pieces.shift()!;
    return this.#rest;
  }

  #take(bytes: number): void {
    this.#rest = this.#rest.subarray(bytes);
    this.#pendingBytes -= bytes;
  }

  #settle(): void {
    for (const settled of this.#onSettled.splice(0)) settled();
  }
}

function isReaderStalled(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}
