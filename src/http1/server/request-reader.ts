import type { Socket } from 'node:net';
import { Refusal } from '../../errors.ts';
import { GrowingBytes, withoutSurroundings } from '../message/growing-bytes.ts';
import {
  headEnd,
  isMalformedStart,
  MalformedMessage,
  parseRequestHead,
  type RequestHeadText,
} from '../message/message-head.ts';
import { knownMethods } from '../message/node-http.ts';
import { hasBody, type RequestFraming, requestFraming } from '../message/request-framing.ts';
import { type ConnectionClock, phase } from './connection-clock.ts';
import { IncomingBody } from './incoming-body.ts';
import type { TargetLimits } from './target-limits.ts';

const cr = 0x0d;
const lf = 0x0a;

const noBody = new IncomingBody({ isChunked: false, length: -1 }, 0);

const nothing = Buffer.alloc(0);

/** Maximum number of bytes that we discard after a response before we close the connection. */
const lingerBytes = 1024 * 1024;
/** Number of pipelined bytes kept during an exchange beyond which we stop reading from the client. */
const pipelinedBytes = 64 * 1024;

/** Receives the events of a {@link RequestReader}. */
export interface RequestEvents {
  /** Called when a complete head has arrived; the next one is read once the connection is idle again. */
  onRequest(head: RequestHeadText, framing: RequestFraming): void;
  /** Called when the bytes aren't an acceptable request head; the rest isn't read. `received`: the head or its beginning. */
  onUnreadable(refusal: Refusal, received: Buffer): void;
  /** Called when the framing of the body is malformed, so that the end of the body is unknown. */
  onBodyBroken(refusal: Refusal): void;
  onDiscarded(): void;
  onTooMuchDiscarded(): void;
}

/** Splits the bytes of one client connection into requests; the clock's phase determines what is expected next. */
export class RequestReader {
  /** The body of the current request; its reader is set by the connection. */
  body: IncomingBody = noBody;
  readonly #socket: Socket;
  readonly #clock: ConnectionClock;
  readonly #maxHeadBytes: number;
  readonly #targets: TargetLimits;
  readonly #events: RequestEvents;
  #kept: Buffer | null = null;
  readonly #growing = new GrowingBytes();
  /** Number of bytes of an incomplete head already searched for its end. */
  #seen = 0;
  #discarded = 0;
  #detached = false;

  constructor(
    socket: Socket,
    clock: ConnectionClock,
    limits: { readonly headerBytes: number; readonly targets: TargetLimits },
    events: RequestEvents,
  ) {
    this.#socket = socket;
    this.#clock = clock;
    this.#maxHeadBytes = limits.headerBytes;
    this.#targets = limits.targets;
    this.#events = events;
  }

  get hasKept(): boolean {
    return this.#kept !== null;
  }

  get begun(): Buffer {
    return this.#kept ?? nothing;
  }

  push(chunk: Buffer): void {
    if (this.#kept === null) this.#consume(chunk);
    else {
      const bytes = this.#growing.join(this.#kept, chunk);
      this.#kept = null;
      this.#consume(bytes);
    }
  }

  /** Reads the kept bytes again, after the phase or the body's reader has changed. */
  readKept(): void {
    if (this.#kept === null) return;
    const bytes = this.#kept;
    this.#kept = null;
    this.#consume(bytes);
  }

  discardBody(): void {
    this.#discarded = 0;
    this.#clock.enter(phase.discarding);
  }

  /** Discards everything unread and everything that follows. */
  discardAll(): void {
    this.#kept = null;
    this.#discarded = 0;
    this.#clock.enter(phase.ending);
  }

  forgetBody(): void {
    this.body = noBody;
  }

  clear(): void {
    this.#kept = null;
    this.#growing.clear();
    this.body = noBody;
  }

  detach(): Buffer {
    this.#detached = true;
    const bytes = this.#kept ?? nothing;
    this.#kept = null;
    return bytes;
  }

  /** Reads as many of the bytes as the phase allows, and keeps the rest. */
  #consume(bytes: Buffer): void {
    const clock = this.#clock;
    let at = 0;
    while (at < bytes.length) {
      const before = at;
      if (clock.phase === phase.ending) {
        this.#countDiscarded(bytes.length - at);
        return;
      }
      if (clock.phase === phase.idle || clock.phase === phase.head) {
        if (this.#socket.writableNeedDrain) {
          // A client must read its responses before we read its next request.
          clock.waitForDrain();
          this.#kept = bytes.subarray(at);
          this.#socket.pause();
          return;
        }
        at = this.#readHead(bytes, at);
      } else if (!this.body.done && (this.body.reader !== null || clock.phase === phase.discarding))
        at = this.#readBody(bytes, at);
      if (this.#detached) {
        this.#kept = at < bytes.length ? bytes.subarray(at) : null;
        return;
      }
      if (at === before) {
        this.#keep(bytes, at);
        return;
      }
    }
    this.#growing.clear();
  }

  #keep(bytes: Buffer, from: number): void {
    this.#kept = from === 0 ? bytes : withoutSurroundings(bytes.subarray(from));
    // Nothing reads the rest for now: the client must wait, or it could fill our memory.
    if (this.#clock.phase === phase.exchange && (!this.body.done || this.#kept.length > pipelinedBytes))
      this.#socket.pause();
  }

  #countDiscarded(count: number): void {
    this.#discarded += count;
    if (this.#discarded > lingerBytes) this.#events.onTooMuchDiscarded();
  }

  /** Reads a head; returns the index after it, `start` if it is incomplete, or `bytes.length` if it is refused. */
  #readHead(bytes: Buffer, start: number): number {
    let from = start;
    // Old clients send an empty line after a body (RFC 9112 §2.2).
    if (bytes[from] === cr && bytes.length - from >= 2 && bytes[from + 1] === lf) from += 2;
    if (from === bytes.length) return start;
    // Each byte is searched once, even if the head arrives byte by byte.
    const seen = start + this.#seen;
    const end = bytes.indexOf(headEnd, Math.max(from, seen - (headEnd.length - 1)));
    if (this.#isTooLong(bytes, from, end))
      return this.#refuse(bytes, from, end, new Refusal('headers_too_large'));
    if (end < 0) {
      if (this.#clock.phase !== phase.head) this.#clock.enter(phase.head);
      this.#seen = bytes.length - start;
      if (!isMalformedStart(bytes, from, seen)) return start;
      return this.#refuse(bytes, from, end, new Refusal('bad_request'));
    }
    this.#seen = 0;
    let text: RequestHeadText;
    try {
      text = parseRequestHead(bytes.toString('latin1', from, end), knownMethods);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      return this.#refuse(bytes, from, end, new Refusal(error.code, { cause: error.message }));
    }
    const framing = requestFraming(text.minor, text.fields);
    this.body = hasBody(framing) ? new IncomingBody(framing, this.#maxHeadBytes) : noBody;
    this.#events.onRequest(text, framing);
    return end + 4;
  }

  /** True if the head is too long; `end` is negative while the head is incomplete. */
  #isTooLong(bytes: Buffer, from: number, end: number): boolean {
    const max = this.#maxHeadBytes;
    // The last bytes may belong to the head's end: not counting them makes the limit independent of how the head is split.
    const length = (end < 0 ? bytes.length - (headEnd.length - 1) : end) - from;
    return length > max && length - this.#targets.uncounted(bytes, from, end >= 0) > max;
  }

  /** Reports an unreadable head, whose `end` is negative while it is incomplete; returns `bytes.length`. */
  #refuse(bytes: Buffer, from: number, end: number, refusal: Refusal): number {
    this.#events.onUnreadable(refusal, bytes.subarray(from, end < 0 ? bytes.length : end + 2));
    return bytes.length;
  }

  #readBody(bytes: Buffer, start: number): number {
    const { body } = this;
    let end: number;
    try {
      end = body.feed(bytes, start);
    } catch (error) {
      this.#events.onBodyBroken(error as Refusal);
      return bytes.length;
    }
    if (this.#clock.phase === phase.discarding) {
      if (body.done) this.#events.onDiscarded();
      else this.#countDiscarded(end - start);
    } else if (body.done) body.end();
    return end;
  }
}
