import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RequestConnection } from '../http1/client-request.ts';
import type { BodyReader } from '../http1/incoming-body.ts';
import type { HeldBack, HeldBackBody } from './held-back.ts';
import type { Route } from './route-table.ts';

/** The request that a body belongs to. */
export interface BodyOwner {
  readonly connection: RequestConnection | null;
  /** Enough of the body has come, or all of it: the upstream may be asked for a connection. */
  onBodyReady(): void;
  /** All of it has come. */
  onBodyCame(): void;
  /** It is refused, or broke off. */
  onBodyRefused(refusal: Refusal): void;
}

/** With so much of a body here its client is worth a connection to the upstream. */
const enoughBytes = 16 * 1024;

/**
 * The client's body on its way to the upstream. It is held back until enough of it has come or it has been waited for:
 * whoever sends a byte now and then shall not hold one of the upstream's few connections.
 */
export class ForwardedBody implements BodyReader, HeldBackBody {
  readonly leastBytesPerSecond: number;
  readonly wholeTimeoutMs = Number.POSITIVE_INFINITY;
  /** How long it was held back, in milliseconds. */
  heldMs = 0;
  readonly #exchange: Exchange;
  readonly #maxBytes: number;
  readonly #owner: BodyOwner;
  readonly #heldBack: HeldBack;
  #startedAt = 0;
  /** What has come and can't be sent yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #shared: Buffer | null = null;
  #isReleased = false;
  #isWhole = false;
  #isSending = false;
  #isDropped = false;

  constructor(exchange: Exchange, route: Route, owner: BodyOwner, heldBack: HeldBack) {
    this.#exchange = exchange;
    this.#maxBytes = route.maxBodyBytes;
    this.leastBytesPerSecond = route.leastBodyBytesPerSecond;
    this.#owner = owner;
    this.#heldBack = heldBack;
  }

  /** Begins to read. */
  start(): void {
    this.#startedAt = performance.now();
    this.#heldBack.add(this, this.#startedAt);
    this.#exchange.readBody(this);
  }

  /** The upstream has a connection for it, or shall find one. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#heldBack.delete(this);
    this.heldMs = performance.now() - this.#startedAt;
    this.#owner.onBodyReady();
    // Until there is a connection the client waits, and it is not the client who is slow.
    if (!this.#isSending && !this.#isWhole && !this.#isDropped) this.#exchange.connection.pause();
  }

  /** The head has been sent: what was held back goes after it, and the rest as it comes. */
  send(): void {
    this.#isSending = true;
    let keepsUp = true;
    for (const piece of this.#held) keepsUp = this.#owner.connection!.write(piece);
    this.#letGo();
    if (this.#isWhole) this.#owner.connection!.endBody();
    else if (keepsUp) this.#exchange.connection.resume();
    else this.#exchange.connection.pause();
  }

  /** The upstream takes more. */
  resume(): void {
    if (this.#isSending) this.#exchange.connection.resume();
  }

  /** Nobody wants it any more. */
  drop(): void {
    this.#isDropped = true;
    this.#isReleased = true;
    this.#heldBack.delete(this);
    this.#letGo();
    this.#exchange.connection.release(this);
  }

  #letGo(): void {
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

  /** Small pieces share one buffer: each would else keep all that was read together with it. */
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
    // The end of a body follows at once, and one that is whole waits for nothing.
    if (this.#heldBytes >= enoughBytes && !this.#exchange.bodyDone) this.release();
  }

  #share(first: Buffer): Buffer {
    const shared = Buffer.allocUnsafeSlow(enoughBytes);
    first.copy(shared);
    this.#shared = shared;
    return shared;
  }

  onBodyEnd(): void {
    this.#isWhole = true;
    if (this.#isSending) this.#owner.connection?.endBody();
    // It was told to wait, and its going away must be noticed.
    else if (this.#isReleased) this.#exchange.connection.resume();
    if (this.#isReleased) this.#owner.onBodyCame();
    else this.release();
  }

  onBodyError(refusal: Refusal): void {
    this.#owner.onBodyRefused(refusal);
  }
}
