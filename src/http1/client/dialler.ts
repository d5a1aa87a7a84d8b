import { connect, isIP, type Socket } from 'node:net';
import { AddressOrder } from './address-order.ts';
import { type SocketTarget, startTls } from './client-socket.ts';
import { SocketReads } from './socket-reads.ts';

/** What opens connections to one upstream. */
export interface Dialler {
  /** Opens one, and calls back later, once; not if it is destroyed before. */
  dial(handler: DialHandler): Dialling;
}

/** What a {@link Dialler} calls. */
export interface DialHandler {
  /** Whether it reads the socket as a stream. */
  readonly readsStream: boolean;
  /**
   * The socket is ready for a request, and its events are the handler's from now on. What is received comes from
   * `reads`; null: from the stream, as it always does over TLS.
   */
  onConnected(socket: Socket, reads: SocketReads | null): void;
  /** A system error has the address that was tried, as Node gives it. */
  onUnreached(error: Error): void;
}

/** A connection being opened. */
export interface Dialling {
  /** Why it has not been opened so far, if it isn't just slow. */
  readonly delay: Error | undefined;
  destroy(): void;
}

/** After how long the next address is tried as well, ms (RFC 8305 §5: 250, and never less than 10). */
const attemptDelayMs = 250;
const leastAttemptDelayMs = 10;
/** Of one connection; each takes a file descriptor. */
const maxAttemptsAtOnce = 8;

/** Creates what opens connections to this upstream. */
export function createDialler(target: SocketTarget): Dialler {
  const order = new AddressOrder();
  return { dial: (handler) => new Attempts(target, order, handler) };
}

/** The attempts to open one connection, to each address of the upstream in turn and side by side (RFC 8305). */
class Attempts implements Dialling {
  readonly #target: SocketTarget;
  readonly #order: AddressOrder;
  readonly #handler: DialHandler;
  /** Those that have not failed, by address; after the first has connected, that one alone. */
  readonly #open = new Map<string, Socket>();
  readonly #errors: NodeJS.ErrnoException[] = [];
  #left: readonly string[] = [];
  #delayMs = attemptDelayMs;
  #timer: NodeJS.Timeout | undefined;
  #withdraw = () => {};
  /** How many spare sockets it has taken: one for each attempt beside the first. */
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
        // The handler doesn't expect to be called before it has the dialling.
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

  /** Ends every attempt but that one. */
  #stop(winner?: Socket): void {
    clearTimeout(this.#timer);
    for (const socket of this.#open.values()) if (socket !== winner) socket.destroy();
    this.#open.clear();
    this.#giveBackSpare();
  }

  #begin(addresses: readonly string[]): void {
    this.#left = this.#order.next(addresses, performance.now());
    // The last of many is begun when half of the time has passed.
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

  /** For one more attempt beside those there are. */
  #takeSpare(): boolean {
    const { spareSockets } = this.#target;
    if (this.#open.size === maxAttemptsAtOnce || spareSockets?.take() === false) return false;
    this.#spare += 1;
    return true;
  }

  /** What the attempts that are left don't need. */
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

  /** Tries one address of a name; empty: the only address there is. */
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
      // A refusal says more than that a family isn't routed here.
      this.#fail(this.#errors.find(({ code }) => code === 'ECONNREFUSED') ?? error);
  }

  #onConnected(ip: string, socket: Socket, reads: SocketReads | null): void {
    // Those before it had more time.
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
    // Its errors are those of the TLS socket.
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
