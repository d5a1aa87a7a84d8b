import type { Socket } from 'node:net';
import { canonicalAddress } from '../http1/peer-address.ts';

/** How long a peer that may not ask is connected, ms: long enough to read why. */
const strangerMs = 1_000;
/** How long one that may ask no more stays connected, ms: what it has asked is answered by then. */
const formerMs = 10_000;

/** Connections of peers that may not ask, on all listeners of a process: so many at a time, and each for a second. */
export class Strangers {
  readonly #most: number;
  /** In the order in which they connected. */
  readonly #sockets = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Keeps a connection for a second, in place of the oldest if there are too many; `onDue` is called at its end. */
  keep(socket: Socket, onDue: () => void): void {
    if (this.#sockets.size >= this.#most) this.#disconnectOldest();
    this.#sockets.add(socket);
    const timer = setTimeout(() => {
      this.#sockets.delete(socket);
      onDue();
    }, strangerMs).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
  }

  #disconnectOldest(): void {
    for (const oldest of this.#sockets) {
      this.#sockets.delete(oldest);
      oldest.destroy();
      return;
    }
  }
}

/** Who may connect to a listener for decisions. */
export interface AdmissionOptions {
  /** Whether a peer with that address may ask. */
  readonly isProxy: (address: string) => boolean;
  /** How many proxies' connections may be open. */
  readonly mostConnections: () => number;
  /** Whether there is room for one more of them, besides. */
  readonly hasRoom: () => boolean;
  /** One of a proxy was closed for want of room. */
  readonly onRefused: () => void;
  readonly strangers: Strangers;
}

/** Admits connections to a listener for decisions, before their first byte: those of strangers never take a proxy's place. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #ofProxies = new Set<Socket>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Open connections of proxies. */
  get connections(): number {
    return this.#ofProxies.size;
  }

  /** Whether to keep a connection that has just been opened; the caller destroys it if not. */
  admits(socket: Socket): boolean {
    if (this.#isOfProxy(socket)) return this.#admitProxy(socket);
    this.#options.strangers.keep(socket, () => {
      // Who may ask can have changed meanwhile.
      if (!this.#isOfProxy(socket) || !this.#admitProxy(socket)) socket.destroy();
    });
    return true;
  }

  /** Others may ask from now on: connections of those that no longer may are closed, once they are answered. */
  peersChanged(): void {
    const former = [...this.#ofProxies].filter((socket) => !this.#isOfProxy(socket));
    if (former.length === 0) return;
    setTimeout(() => {
      for (const socket of former) if (!this.#isOfProxy(socket)) socket.destroy();
    }, formerMs).unref();
  }

  #isOfProxy({ remoteAddress }: Socket): boolean {
    return remoteAddress !== undefined && this.#options.isProxy(canonicalAddress(remoteAddress));
  }

  #admitProxy(socket: Socket): boolean {
    const { mostConnections, hasRoom, onRefused } = this.#options;
    if (this.#ofProxies.size >= mostConnections() || !hasRoom()) {
      onRefused();
      return false;
    }
    this.#ofProxies.add(socket);
    socket.once('close', () => this.#ofProxies.delete(socket));
    return true;
  }
}
