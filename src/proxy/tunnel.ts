import type { Duplex } from 'node:stream';
import { closeFrame, FrameFollower, policyViolation } from './websocket-frames.ts';

/** Both ends of an upgraded connection, and the bytes that each of them has already sent. */
export interface TunnelEnds {
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly fromClient: Buffer;
  readonly fromUpstream: Buffer;
}

export interface TunnelOptions {
  /** The tunnel is cut when nothing passes in either direction for this long, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** True if frames are followed, so that the tunnel can be closed between two of them. */
  readonly isWebSocket: boolean;
  readonly onBytes: (toClient: number, fromClient: number) => void;
  readonly onIdle: () => void;
}

/** Time, ms, that one side may take to end once the other has ended and all bytes have been passed on. */
const lingerMs = 10_000;
/** Time, ms, that both sides may take to end once the credential has ended; with the sweep interval, less than a second. */
const closingMs = 500;

/**
 * Joins two sockets until both have ended. Bytes pass both ways with back-pressure. When one side ends, the other may still send,
 * except on a WebSocket, which ends as a whole.
 */
export class Tunnel {
  readonly #ends: TunnelEnds;
  readonly #options: TunnelOptions;
  readonly #toClient = new FrameFollower();
  readonly #toUpstream = new FrameFollower();
  #timer: NodeJS.Timeout;
  /** True once nothing more is passed on. */
  #over = false;
  #open = 2;

  constructor(ends: TunnelEnds, options: TunnelOptions) {
    this.#ends = ends;
    this.#options = options;
    this.#timer = setTimeout(() => this.#idle(), options.idleTimeoutMs).unref();
  }

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
    // The close event that follows handles it.
    from.on('error', () => {});
    from.on('close', () => {
      this.#open--;
      if (this.#open === 0) clearTimeout(this.#timer);
      else this.#endAfter(to);
    });
    if (early.length === 0 || pass(early)) from.resume();
  }

  /** Ends one side after the other: sends the remaining bytes, then allows the side some time to end as well. */
  #endAfter(to: Duplex): void {
    to.end(() => this.#cutAfter(lingerMs));
    to.resume();
  }

  /** Ends the tunnel together with its credential: sends 1008 to a WebSocket side between two frames, cuts any other side. */
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

  destroy(): void {
    this.#over = true;
    this.#ends.client.destroy();
    this.#ends.upstream.destroy();
  }
}
