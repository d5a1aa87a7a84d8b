import type { Socket } from 'node:net';
import { canonicalAddress } from '../http1/server/peer-address.ts';

/** Time for which a peer outside `proxies` stays connected, ms: long enough to read the refusal. */
const strangerMs = 1_000;
/** Time for which a peer removed from `proxies` stays connected, ms: long enough for answers to its open questions. */
const formerMs = 10_000;

/** Open connections of peers that may not ask for decisions, on all listeners: a limited number, each kept for a second. */
export class Strangers {
  readonly #most: number;
  /** Sockets, the oldest first. */
  readonly #sockets = new Set<Socket>();

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Keeps a connection for a second, then calls `onDue`. If there are too many connections, the oldest is destroyed. */
  keep(socket: Socket, onDue: () => void): void {
    if (this.#sockets.size >= this.#most) {
      const [oldest] = this.#sockets;
      if (oldest !== undefined) this.#sockets.delete(oldest);
      oldest?.destroy();
    }
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
}

interface AdmissionOptions {
  readonly isProxy: (address: string) => boolean;
  /** The maximum number of open connections of proxies. */
  readonly mostConnections: () => number;
  /** True if the process has file descriptors for one more connection of a proxy. */
  readonly hasRoom: () => boolean;
  /** Called when a connection of a proxy is refused, because of the maximum or for lack of file descriptors. */
  readonly onRefused: () => void;
  readonly strangers: Strangers;
}

/** Admits connections to a listener for decisions, before their first byte; peers that may not ask never take a proxy's place. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #ofProxies = new Set<Socket>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get connections(): number {
    return this.#ofProxies.size;
  }

  /** True if a connection that has just been opened is kept; otherwise the caller destroys it. */
  admits(socket: Socket): boolean {
    if (this.#isOfProxy(socket)) return this.#admitProxy(socket);
    this.#options.strangers.keep(socket, () => {
      // A reload may have admitted the peer meanwhile.
      if (!this.#isOfProxy(socket) || !this.#admitProxy(socket)) socket.destroy();
    });
    return true;
  }

  /** Closes the connections of peers that may no longer ask, after ten seconds; called when `proxies` has changed. */
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
