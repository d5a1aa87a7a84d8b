import type { Socket } from 'node:net';
import { closeFrame, FrameFollower, policyViolation } from './websocket-frames.ts';

/** Both ends of an upgraded connection, and the bytes that each had sent already. */
export interface TunnelEnds {
  readonly client: Socket;
  readonly upstream: Socket;
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
}

/** How long a side that was told to close may take, in milliseconds. */
const closingMs = 1_000;

/** Joins two sockets until one of them ends: bytes pass both ways with back-pressure, an end is passed on as an end. */
export class Tunnel {
  readonly #ends: TunnelEnds;
  readonly #options: TunnelOptions;
  readonly #toClient = new FrameFollower();
  readonly #toUpstream = new FrameFollower();
  readonly #idle: NodeJS.Timeout;
  #over = false;
  #open = 2;

  constructor(ends: TunnelEnds, options: TunnelOptions) {
    this.#ends = ends;
    this.#options = options;
    this.#idle = setTimeout(() => this.destroy(), options.idleTimeoutMs);
    this.#idle.unref();
  }

  /** Begins to pass bytes, those that had come already first. */
  start(): void {
    const { client, upstream, fromClient, fromUpstream } = this.#ends;
    const { onBytes } = this.#options;
    this.#join(upstream, client, this.#toClient, (count) => onBytes(count, 0), fromUpstream);
    this.#join(client, upstream, this.#toUpstream, (count) => onBytes(0, count), fromClient);
  }

  #join(
    from: Socket,
    to: Socket,
    frames: FrameFollower,
    count: (bytes: number) => void,
    early: Buffer,
  ): void {
    const pass = (bytes: Buffer) => {
      if (this.#over) return;
      this.#idle.refresh();
      count(bytes.length);
      if (this.#options.isWebSocket) frames.pass(bytes);
      if (!to.write(bytes)) from.pause();
    };
    to.on('drain', () => from.resume());
    from.on('data', pass);
    from.on('end', () => to.end());
    from.on('error', () => this.destroy());
    from.on('close', () => {
      if (!to.writableEnded) to.end();
      this.#open--;
      if (this.#open === 0) this.#finish();
      else if (from.errored !== null) this.destroy();
      else this.#closeSoon();
    });
    if (early.length > 0) pass(early);
    from.resume();
  }

  /** Ends it for its credential's sake: a WebSocket is told 1008 where a frame may stand, the rest is cut. */
  end(): void {
    if (this.#over) return;
    const { client, upstream } = this.#ends;
    if (!this.#options.isWebSocket || !this.#toClient.atBoundary) {
      this.destroy();
      return;
    }
    this.#over = true;
    client.end(closeFrame(policyViolation, false));
    if (this.#toUpstream.atBoundary) upstream.end(closeFrame(policyViolation, true));
    else upstream.destroy();
    client.resume();
    upstream.resume();
    this.#closeSoon();
  }

  #closeSoon(): void {
    setTimeout(() => this.destroy(), closingMs).unref();
  }

  /** Cuts both ends at once. */
  destroy(): void {
    this.#over = true;
    this.#ends.client.destroy();
    this.#ends.upstream.destroy();
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#idle);
  }
}
