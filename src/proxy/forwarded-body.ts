import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RequestConnection } from '../http1/client/client-request.ts';
import type { BodyReader } from '../http1/server/incoming-body.ts';
import type { Route } from './route-table.ts';

/** The request that a body belongs to. */
export interface BodyOwner {
  readonly connection: RequestConnection | null;
  /** Called when the body is no longer held back: the request may take one of the upstream's connections. */
  onBodyReady(): void;
  onBodyReceived(): void;
  onBodyRefused(refusal: Refusal): void;
}

/** Number of bytes after whose arrival a body is no longer held back. */
const enoughBytes = 16 * 1024;
/** Maximum time for which a body is held back, ms. */
const longestMs = 1_000;

/**
 * The client's body on its way to the upstream. It is held back until enough of it has arrived or a second has passed:
 * a client that trickles bytes must not occupy one of the upstream's few connections.
 */
export class ForwardedBody implements BodyReader {
  readonly leastBytesPerSecond: number;
  readonly wholeTimeoutMs = Number.POSITIVE_INFINITY;
  /** Time for which the body was held back, ms. */
  heldMs = 0;
  readonly #exchange: Exchange;
  readonly #maxBytes: number;
  readonly #owner: BodyOwner;
  readonly #heldBodies: HeldBodies;
  #startedAt = 0;
  /** Bytes that have arrived and can't be sent yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #shared: Buffer | null = null;
  #isReleased = false;
  #isComplete = false;
  #isSending = false;
  #isDropped = false;

  constructor(exchange: Exchange, route: Route, owner: BodyOwner, heldBodies: HeldBodies) {
    this.#exchange = exchange;
    this.#maxBytes = route.maxBodyBytes;
    this.leastBytesPerSecond = route.leastBodyBytesPerSecond;
    this.#owner = owner;
    this.#heldBodies = heldBodies;
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#heldBodies.add(this, this.#startedAt);
    this.#exchange.readBody(this);
  }

  /** Stops holding the body back: its request asks the pool for a connection. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#heldBodies.delete(this);
    this.heldMs = performance.now() - this.#startedAt;
    this.#owner.onBodyReady();
    // Until there is a connection the client is paused, so that its rate isn't measured meanwhile.
    if (!this.#isSending && !this.#isComplete && !this.#isDropped) this.#exchange.connection.pause();
  }

  /** Called once the head has been sent: the bytes held back follow it, then the rest as it arrives. */
  send(): void {
    this.#isSending = true;
    let keepsUp = true;
    for (const piece of this.#held) keepsUp = this.#owner.connection!.write(piece);
    this.#freeHeld();
    if (this.#isComplete) this.#owner.connection!.endBody();
    else if (keepsUp) this.#exchange.connection.resume();
    else this.#exchange.connection.pause();
  }

  resume(): void {
    if (this.#isSending) this.#exchange.connection.resume();
  }

  drop(): void {
    this.#isDropped = true;
    this.#isReleased = true;
    this.#heldBodies.delete(this);
    this.#freeHeld();
    this.#exchange.connection.release(this);
  }

  #freeHeld(): void {
    this.#held = [];
    this.#shared = null;
  }

  onBodyChunk(chunk: Buffer): void {
    const exchange = this.#exchange;
    exchange.bytesIn += chunk.length;
    if (exchange.bytesIn > this.#maxBytes) this.#owner.onBodyRefused(new Refusal('body_too_large'));
    else if (!this.#isSending) this.#hold(chunk);
    else if (this.#owner.connection?.write(chunk) === false) exchange.connection.pause();
  }

  /** Holds a chunk back. Small ones are copied into one buffer: each would otherwise retain the whole buffer it was read into. */
  #hold(chunk: Buffer): void {
    const before = this.#heldBytes;
    this.#heldBytes += chunk.length;
    if (before === 0 || before >= enoughBytes) this.#held.push(chunk);
    else {
      const shared = this.#shared ?? this.#share(this.#held[0]!);
      const copied = chunk.copy(shared, before);
      this.#held = [shared.subarray(0, before + copied)];
      if (copied < chunk.length) this.#held.push(chunk.subarray(copied));
    }
    // A complete body is released by onBodyEnd, which follows at once.
    if (this.#heldBytes >= enoughBytes && !this.#exchange.bodyDone) this.release();
  }

  #share(first: Buffer): Buffer {
    const shared = Buffer.allocUnsafeSlow(enoughBytes);
    first.copy(shared);
    this.#shared = shared;
    return shared;
  }

  onBodyEnd(): void {
    this.#isComplete = true;
    if (this.#isSending) this.#owner.connection?.endBody();
    // The client was paused; a disconnect is only noticed while its socket is read.
    else if (this.#isReleased) this.#exchange.connection.resume();
    if (this.#isReleased) this.#owner.onBodyReceived();
    else this.release();
  }

  onBodyError(refusal: Refusal): void {
    this.#owner.onBodyRefused(refusal);
  }
}

/** The bodies being held back, oldest first; one timer, armed while there are any, releases each after a second. */
export class HeldBodies {
  /** Time when each body was added, by `performance.now()`. */
  readonly #since = new Map<ForwardedBody, number>();
  #timer: NodeJS.Timeout | null = null;

  add(body: ForwardedBody, now: number): void {
    this.#since.set(body, now);
    this.#timer ??= setTimeout(this.#releaseDue, longestMs).unref();
  }

  delete(body: ForwardedBody): void {
    this.#since.delete(body);
  }

  readonly #releaseDue = (): void => {
    this.#timer = null;
    const now = performance.now();
    for (const [body, since] of this.#since) {
      const remainingMs = longestMs - (now - since);
      if (remainingMs > 0) {
        this.#timer = setTimeout(this.#releaseDue, Math.ceil(remainingMs)).unref();
        return;
      }
      this.#since.delete(body);
      body.release();
    }
  };
}
