import type { Duplex } from 'node:stream';
import { closeFrame, FrameFollower, policyViolation } from './websocket-frames.ts';

/** Both ends of an upgraded connection, and the bytes that each had sent already. */
export interface TunnelEnds {
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly fromClient: Buffer;
  readonly fromUpstream: Buffer;
}

export interface TunnelOptions {
  /** It ends when nothing passes in either direction for this long, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Frames are followed, so that it can be closed between two of them. */
  readonly isWebSocket: boolean;
  /** Bytes passed on, towards the client and from it. */
  readonly onBytes: (toClient: number, fromClient: number) => void;
  /** Told when it ends because nothing passed. */
  readonly onIdle: () => void;
}

/** How long the second side may take to end after the first, once all has been sent to it; in milliseconds. */
const lingerMs = 10_000;
/** The same after the credential has ended; with a look at credentials before it, it is to be less than a second. */
const closingMs = 500;

/**
 * Joins two sockets until both have ended. Bytes pass both ways with back-pressure, an end is passed on behind the last
 * of them; the other direction goes on, but for a WebSocket, which ends as a whole.
 */
export class Tunnel {
  readonly #ends: TunnelEnds;
  readonly #options: TunnelOptions;
  readonly #toClient = new FrameFollower();
  readonly #toUpstream = new FrameFollower();
  #timer: NodeJS.Timeout;
  /** Nothing is passed on any more. */
  #over = false;
  #open = 2;

  constructor(ends: TunnelEnds, options: TunnelOptions) {
    this.#ends = ends;
    this.#options = options;
    this.#timer = setTimeout(() => this.#idle(), options.idleTimeoutMs).unref();
  }

  /** Begins to pass bytes, those that had come already first. */
  start(): void {
    const { client, upstream, fromClient, fromUpstream } = this.#ends;
    const { onBytes } = this.#options;
    this.#join(upstream, client, this.#toClient, (count) => onBytes(count, 0), fromUpstream);
    this.#join(client, upstream, this.#toUpstream, (count) => onBytes(0, count), fromClient);
  }

  #join(
    from: Duplex,
    to: Duplex,
    frames: FrameFollower,
    count: (bytes: number) => void,
    early: Buffer,
  ): void {
    const pass = (bytes: Buffer): boolean => {
      if (this.#over || to.destroyed) return true;
      this.#timer.refresh();
      count(bytes.length);
      if (this.#options.isWebSocket) frames.pass(bytes);
      return to.write(bytes);
    };
    from.on('data', (bytes: Buffer) => {
      if (!pass(bytes)) from.pause();
    });
    to.on('drain', () => {
      this.#timer.refresh();
      from.resume();
    });
    from.on('end', () => {
      if (this.#options.isWebSocket) this.#endAfter(to);
      else to.end();
    });
    // The close that follows tells what there is to do.
    from.on('error', () => {});
    from.on('close', () => {
      this.#open--;
      if (this.#open === 0) clearTimeout(this.#timer);
      else this.#endAfter(to);
    });
    if (early.length === 0 || pass(early)) from.resume();
  }

  /** The other side is gone: this one gets what is still on its way to it, and some time to end too. */
  #endAfter(to: Duplex): void {
    to.end(() => this.#cutAfter(lingerMs));
    to.resume();
  }

  /** Ends it for its credential's sake: a WebSocket is told 1008 where a frame may stand, the rest is cut. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    const { client, upstream } = this.#ends;
    this.#dismiss(client, this.#toClient, closeFrame(policyViolation, false));
    this.#dismiss(upstream, this.#toUpstream, closeFrame(policyViolation, true));
    this.#cutAfter(closingMs);
  }

  #dismiss(to: Duplex, frames: FrameFollower, frame: Buffer): void {
    if (!this.#options.isWebSocket || !frames.atBoundary || to.writableEnded) to.destroy();
    else to.end(frame);
    to.resume();
  }

  #idle(): void {
    this.#options.onIdle();
    this.destroy();
  }

  #cutAfter(milliseconds: number): void {
    if (this.#open === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.destroy(), milliseconds).unref();
  }

  /** Cuts both ends at once. */
  destroy(): void {
    this.#over = true;
    this.#ends.client.destroy();
    this.#ends.upstream.destroy();
  }
}
