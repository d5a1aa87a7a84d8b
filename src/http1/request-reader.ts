import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { type ConnectionClock, phase } from './connection-clock.ts';
import { GrowingBytes, withoutSurroundings } from './growing-bytes.ts';
import { IncomingBody } from './incoming-body.ts';
import {
  headEnd,
  isMalformedStart,
  MalformedMessage,
  parseRequestHead,
  type RequestHeadText,
} from './message-head.ts';
import { hasBody, type RequestFraming, requestFraming } from './request-framing.ts';
import type { TargetLimits } from './target-limits.ts';

const methods: ReadonlySet<string> = new Set(METHODS);
const cr = 0x0d;
const lf = 0x0a;

/** The body of every request that has none. */
const noBody = new IncomingBody({ isChunked: false, length: -1 }, 0);

/** What a refused or early answered client may go on sending before its connection is cut. */
const lingerBytes = 1024 * 1024;
/** As much of a next request as is kept while one is answered. */
const pipelinedBytes = 64 * 1024;

/** Who is told what the bytes are, in their order. */
export interface RequestEvents {
  /** A head has come; the next one is not looked for before the phase says so. */
  onRequest(head: RequestHeadText, framing: RequestFraming): void;
  /** What came is no request, and nothing after it will be. */
  onUnreadable(refusal: Refusal): void;
  /** The framing of the body broke: whatever follows can't be told apart from it. */
  onBodyBroken(refusal: Refusal): void;
  /** The end of a body that nobody wanted has come. */
  onDiscarded(): void;
  /** More came in vain than a client may send. */
  onTooMuchDiscarded(): void;
}

/** Cuts the bytes of one client connection into requests; the clock's phase says what they are to be. */
export class RequestReader {
  /** The body of the last request; its reader is set by whoever wants it. */
  body: IncomingBody = noBody;
  readonly #socket: Socket;
  readonly #clock: ConnectionClock;
  readonly #maxHeadBytes: number;
  readonly #targets: TargetLimits;
  readonly #events: RequestEvents;
  #kept: Buffer | null = null;
  readonly #growing = new GrowingBytes();
  /** How much of the head that is kept has been looked at. */
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

  /** Whether bytes wait for their turn. */
  get hasKept(): boolean {
    return this.#kept !== null;
  }

  push(chunk: Buffer): void {
    if (this.#kept === null) this.#consume(chunk);
    else {
      const bytes = this.#growing.join(this.#kept, chunk);
      this.#kept = null;
      this.#consume(bytes);
    }
  }

  /** Looks at what is kept again: there may be a use for it now. */
  readKept(): void {
    if (this.#kept === null) return;
    const bytes = this.#kept;
    this.#kept = null;
    this.#consume(bytes);
  }

  /** What is still to come of the body is thrown away. */
  discardBody(): void {
    this.#discarded = 0;
    this.#clock.enter(phase.discarding);
  }

  /** All that was not read, and all that is still to come, is thrown away. */
  discardAll(): void {
    this.#kept = null;
    this.#discarded = 0;
    this.#clock.enter(phase.ending);
  }

  /** The request is over, and its body with it. */
  forgetBody(): void {
    this.body = noBody;
  }

  /** Lets go of everything: nothing will come. */
  clear(): void {
    this.#kept = null;
    this.#growing.clear();
    this.body = noBody;
  }

  /** Reads no further; gives what has come and was not read. */
  detach(): Buffer {
    this.#detached = true;
    const bytes = this.#kept ?? Buffer.alloc(0);
    this.#kept = null;
    return bytes;
  }

  /** Takes from the bytes what there is a use for now, and keeps the rest. */
  #consume(bytes: Buffer): void {
    const clock = this.#clock;
    let at = 0;
    while (at < bytes.length) {
      const before = at;
      if (clock.phase === phase.ending) {
        this.#throwAway(bytes.length - at);
        return;
      }
      if (clock.phase === phase.idle || clock.phase === phase.head) {
        if (this.#socket.writableNeedDrain) {
          // Who does not read responses gets no more of them: what it asks meanwhile waits, and so does the client.
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
    // Nobody reads on: the client shall wait, and not fill our memory.
    if (this.#clock.phase === phase.exchange && (!this.body.done || this.#kept.length > pipelinedBytes))
      this.#socket.pause();
  }

  #throwAway(count: number): void {
    this.#discarded += count;
    if (this.#discarded > lingerBytes) this.#events.onTooMuchDiscarded();
  }

  /** Gives the index after the head, or `start` when it is not all there yet. */
  #readHead(bytes: Buffer, start: number): number {
    let from = start;
    // An empty line before a request is a client's slip of old (RFC 9112 §2.2).
    if (bytes[from] === cr && bytes.length - from >= 2 && bytes[from + 1] === lf) from += 2;
    if (from === bytes.length) return start;
    // In one byte after the other, too, a head costs no more than its bytes: each is looked at once.
    const seen = start + this.#seen;
    const end = bytes.indexOf(headEnd, Math.max(from, seen - (headEnd.length - 1)));
    if (this.#isTooLong(bytes, from, end)) return this.#refuse(bytes, new Refusal('headers_too_large'));
    if (end < 0) {
      if (this.#clock.phase !== phase.head) this.#clock.enter(phase.head);
      this.#seen = bytes.length - start;
      return isMalformedStart(bytes, from, seen) ? this.#refuse(bytes, new Refusal('bad_request')) : start;
    }
    this.#seen = 0;
    let text: RequestHeadText;
    try {
      text = parseRequestHead(bytes.toString('latin1', from, end), methods);
    } catch (error) {
      if (!(error instanceof MalformedMessage)) throw error;
      return this.#refuse(bytes, new Refusal(error.code, { cause: error.message }));
    }
    const framing = requestFraming(text.minor, text.fields);
    this.body = hasBody(framing) ? new IncomingBody(framing, this.#maxHeadBytes) : noBody;
    this.#events.onRequest(text, framing);
    return end + 4;
  }

  /** `end` is negative while the head is not all there. */
  #isTooLong(bytes: Buffer, from: number, end: number): boolean {
    const max = this.#maxHeadBytes;
    // What may be the beginning of its end is not counted: how the bytes are cut makes no difference.
    const length = (end < 0 ? bytes.length - (headEnd.length - 1) : end) - from;
    if (length <= max) return false;
    const targets = this.#targets;
    return length - (end < 0 ? targets.mostUncounted(bytes, from) : targets.uncounted(bytes, from)) > max;
  }

  #refuse(bytes: Buffer, refusal: Refusal): number {
    this.#events.onUnreadable(refusal);
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
      else this.#throwAway(end - start);
    } else if (body.done) {
      const { reader } = body;
      body.reader = null;
      reader?.onBodyEnd();
    }
    return end;
  }
}
