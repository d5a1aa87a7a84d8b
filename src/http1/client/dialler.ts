import { connect, isIP, type Socket } from 'node:net';
import { AddressOrder } from './address-order.ts';
import { type SocketTarget, startTls } from './client-socket.ts';
import { SocketReads } from './socket-reads.ts';

/** Opens connections to one upstream. */
export interface Dialler {
  /** Opens a connection; calls one method of `handler` once, asynchronously, but never after the dialling is destroyed. */
  dial(handler: DialHandler): Dialling;
}

/** Callbacks of a {@link Dialler}. */
export interface DialHandler {
  /** True if the handler reads the socket as a stream. */
  readonly readsStream: boolean;
  /**
   * Called when the socket is ready for a request; the handler listens to its events from now on. Received bytes come from
   * `reads` or, if that is null, as always over TLS, from the socket's stream.
   */
  onConnected(socket: Socket, reads: SocketReads | null): void;
  /** Called when no connection could be opened; a system error names the address that was tried, as Node's errors do. */
  onUnreached(error: Error): void;
}

/** A connection being opened. */
export interface Dialling {
  /** Reason why the connection isn't open yet: its host name is still being looked up; undefined if it is merely slow. */
  readonly delay: Error | undefined;
  destroy(): void;
}

/** Delay before the next address is tried in parallel, ms (RFC 8305 §5: 250, and never less than 10). */
const attemptDelayMs = 250;
const leastAttemptDelayMs = 10;
/** Maximum number of parallel attempts for one connection; each takes a file descriptor. */
const maxAttemptsAtOnce = 8;

/** Creates the dialler of an upstream. */
export function createDialler(target: SocketTarget): Dialler {
  const order = new AddressOrder();
  return { dial: (handler) => new Attempts(target, order, handler) };
}

/** Attempts to open one connection to an upstream: its addresses are tried one after another, several in parallel (RFC 8305). */
class Attempts implements Dialling {
  readonly #target: SocketTarget;
  readonly #order: AddressOrder;
  readonly #handler: DialHandler;
  /** Sockets of pending attempts, by address; during the TLS handshake, only the socket that has connected. */
  readonly #open = new Map<string, Socket>();
  readonly #errors: NodeJS.ErrnoException[] = [];
  #left: readonly string[] = [];
  #delayMs = attemptDelayMs;
  #timer: NodeJS.Timeout | undefined;
  #withdraw = () => {};
  /** Number of spare sockets taken: one for each parallel attempt beyond the first. */
  #spare = 0;
  #isNaming = false;
  #isOver = false;

  constructor(target: SocketTarget, order: AddressOrder, handler: DialHandler) {
    this.#target = target;
    this.#order = order;
    this.#handler = handler;
    const { address } = target;
    if ('socketPath' in address || isIP(address.host) !== 0) this.#attempt('');
    else {
      this.#isNaming = true;
      this.#withdraw = target.findAddresses(address.host, (error, addresses) => {
        this.#isNaming = false;
        if (this.#isOver) return;
        if (addresses.length > 0) this.#begin(addresses);
        // Deferred: `dial` must have returned before the handler is called.
        else process.nextTick(() => this.#fail(error ?? new Error('no addresses')));
      });
    }
  }

  get delay(): Error | undefined {
    if (!this.#isNaming) return undefined;
    return Object.assign(new Error('name servers unavailable'), { code: 'EAI_AGAIN' });
  }

  destroy(): void {
    this.#isOver = true;
    this.#withdraw();
    this.#stop();
  }

  #stop(winner?: Socket): void {
    clearTimeout(this.#timer);
    for (const socket of this.#open.values()) if (socket !== winner) socket.destroy();
    this.#open.clear();
    this.#giveBackSpare();
  }

  #begin(addresses: readonly string[]): void {
    this.#left = this.#order.next(addresses, performance.now());
    // The last of many attempts begins when half of the time has passed.
    const fitting = this.#target.connectTimeoutMs / 2 / Math.max(1, this.#left.length - 1);
    this.#delayMs = Math.min(attemptDelayMs, Math.max(leastAttemptDelayMs, fitting));
    this.#next();
  }

  #next(): void {
    clearTimeout(this.#timer);
    const [address, ...left] = this.#left;
    if (address === undefined) return;
    this.#left = left;
    if (this.#open.size > 0 && !this.#takeSpare()) this.#giveUpOldest();
    this.#attempt(address);
    if (left.length > 0) this.#timer = setTimeout(() => this.#next(), this.#delayMs);
  }

  #takeSpare(): boolean {
    const { spareSockets } = this.#target;
    if (this.#open.size === maxAttemptsAtOnce || spareSockets?.take() === false) return false;
    this.#spare += 1;
    return true;
  }

  /** Returns the spare sockets that the remaining attempts don't need. */
  #giveBackSpare(): void {
    for (const needed = Math.max(0, this.#open.size - 1); this.#spare > needed; this.#spare -= 1)
      this.#target.spareSockets?.giveBack();
  }

  #giveUpOldest(): void {
    for (const [ip, socket] of this.#open) {
      this.#open.delete(ip);
      this.#order.failed(ip, performance.now());
      socket.destroy();
      return;
    }
  }

  /** Starts an attempt; `ip`: one of the addresses of the host name, empty if the upstream isn't given by name. */
  #attempt(ip: string): void {
    const { address, tls } = this.#target;
    const reads = tls !== null || this.#handler.readsStream ? null : new SocketReads();
    const socket = connect({
      ...('socketPath' in address ? { path: address.socketPath } : { ...address, ...(ip && { host: ip }) }),
      // The two directions of an upgraded connection end separately.
      allowHalfOpen: true,
      ...(reads && { onread: reads.onread }),
    });
    this.#open.set(ip, socket);
    const onLost = (error?: Error) => {
      if (this.#open.get(ip) === socket) this.#onLost(ip, error ?? new Error('connection lost'));
    };
    socket.once('error', onLost).once('close', onLost);
    socket.once('connect', () => {
      if (this.#open.get(ip) !== socket) return;
      socket.off('error', onLost).off('close', onLost);
      this.#onConnected(ip, socket, reads);
    });
  }

  #onLost(ip: string, error: NodeJS.ErrnoException): void {
    this.#open.delete(ip);
    this.#giveBackSpare();
    this.#errors.push(error);
    this.#order.failed(ip, performance.now());
    if (this.#left.length > 0) this.#next();
    else if (this.#open.size === 0)
      // ECONNREFUSED says more than a routing error.
      this.#fail(this.#errors.find(({ code }) => code === 'ECONNREFUSED') ?? error);
  }

  #onConnected(ip: string, socket: Socket, reads: SocketReads | null): void {
    // Attempts that began earlier have had more time, so they count as failed.
    for (const earlier of this.#open.keys()) {
      if (earlier === ip) break;
      this.#order.failed(earlier, performance.now());
    }
    this.#order.worked(ip);
    this.#stop(socket);
    if (this.#target.tls === null) this.#succeed(socket, reads);
    else this.#secure(ip, socket);
  }

  #secure(ip: string, plain: Socket): void {
    // The TLS socket reports the plain socket's errors.
    plain.on('error', () => {});
    const socket = startTls(plain, this.#target);
    this.#open.set(ip, socket);
    const onLost = (error?: Error) => this.#fail(error ?? new Error('connection lost'));
    socket.once('error', onLost).once('close', onLost);
    socket.once('secureConnect', () => {
      if (this.#isOver) return;
      socket.off('error', onLost).off('close', onLost);
      this.#open.clear();
      this.#succeed(socket, null);
    });
  }

  #succeed(socket: Socket, reads: SocketReads | null): void {
    this.#isOver = true;
    this.#handler.onConnected(socket, reads);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop();
    this.#handler.onUnreached(error);
  }
}
