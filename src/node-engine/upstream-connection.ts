import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import {
  type ConnectionOwner,
  defaultKeepAliveMs,
  type PooledConnection,
  type UpstreamRequest,
} from '../http1/client-request.ts';
import { connectEvent, connectSocket, type SocketTarget } from '../http1/client-socket.ts';
import { MalformedMessage } from '../http1/message-head.ts';
import { maxHeadBytes, PoolMember } from '../http1/pool-member.ts';
import { UpstreamError } from '../http1/upstream-error.ts';
import { requestUpgrade, type UpgradeEvents } from './upgrade.ts';

/** Opens a connection of undici's for a pool, which owns it. */
export function openUndiciConnection(target: SocketTarget, owner: ConnectionOwner): PooledConnection {
  return new UndiciConnection(target, owner);
}

/** What undici writes itself, or frames by; it rejects a request that says it too. */
const framedByUndici: ReadonlySet<string> = new Set([
  'connection',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
]);
/** How a connection is lost, as undici and Node have it. */
const lost: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
]);

/** One connection to an upstream whose HTTP is undici's, and http-proxy-3's for upgrades; the pool's rules are ours. */
class UndiciConnection extends PoolMember implements Dispatcher.DispatchHandler, UpgradeEvents {
  readonly #target: SocketTarget;
  #client: Client | null = null;
  #controller: Pick<Dispatcher.DispatchController, 'pause' | 'resume'> | null = null;
  #body: Readable | null = null;
  protected isPaused = false;

  constructor(target: SocketTarget, owner: ConnectionOwner) {
    super(connectSocket(target), owner);
    this.#target = target;
    this.#prepare(this.socket);
  }

  #prepare(socket: Socket): void {
    this.isConnected = false;
    socket.setNoDelay(true);
    socket.once(connectEvent(this.#target), () => {
      this.isConnected = true;
      this.since = performance.now();
    });
    socket.on('error', ignore);
    // undici knows better why, and says so first.
    socket.on('close', () => process.nextTick(() => this.#onLost(socket)));
  }

  protected carry(request: UpstreamRequest): void {
    this.isPaused = false;
    if (request.upgrade === null) this.#dispatch(request);
    else this.#askToSwitch(request);
  }

  #dispatch(request: UpstreamRequest): void {
    const { method, target: path, fields } = request;
    const headers: string[] = [];
    for (let i = 0; i < fields.length; i += 2)
      if (!framedByUndici.has(fields[i]!.toLowerCase())) headers.push(fields[i]!, fields[i + 1]!);
    this.#body = request.hasBody ? new Readable({ read: () => request.onDrain() }) : null;
    this.#body?.on('error', ignore);
    this.#client ??= this.#openClient();
    this.#client.dispatch({ method, path, headers, body: this.#body } as Dispatcher.DispatchOptions, this);
  }

  #openClient(): Client {
    const socket = this.socket;
    let isTaken = false;
    return new Client('http://upstream', {
      // One connection is all there is: a lost one is the pool's to replace.
      connect: (_options, callback) => {
        if (isTaken) callback(new Error('connection lost'), null);
        else if (this.isConnected) callback(null, socket);
        else socket.once(connectEvent(this.#target), () => callback(null, socket));
        isTaken = true;
      },
      // Time-outs are polled, by the pool.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: defaultKeepAliveMs,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: maxHeadBytes,
      allowH2: false,
    });
  }

  /** http-proxy-3 asks on a socket that nothing else has used. */
  #askToSwitch(request: UpstreamRequest): void {
    if (this.#client !== null) {
      const used = this.socket;
      this.socket = connectSocket(this.#target);
      this.#prepare(this.socket);
      used.destroy();
    }
    this.#controller = requestUpgrade(request, this.socket, this);
  }

  // What the pool and the request ask for.

  write(bytes: Buffer): boolean {
    this.since = performance.now();
    return this.#body!.push(bytes);
  }

  endBody(): void {
    this.isSent = true;
    this.since = performance.now();
    this.#body!.push(null);
  }

  pause(): void {
    this.isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.since = performance.now();
    this.#controller?.resume();
  }

  override destroy(): void {
    super.destroy();
    this.#body?.destroy();
  }

  // What undici tells.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isDead) controller.abort(new Error('not wanted any more'));
    else this.request?.onSent();
  }

  onResponseStarted(): void {
    this.gotBytes = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.onHead(status, textsOf(controller.rawHeaders));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.onData(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.onEnd(textsOf(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.onError(error);
  }

  // What undici and http-proxy-3 come to.

  onHead(status: number, fields: string[]): void {
    if (this.request === null) return;
    const bytes = fields.reduce((sum, text) => sum + text.length + 2, 0);
    if (status < 100 || bytes > maxHeadBytes) throw new MalformedMessage('head');
    this.since = performance.now();
    this.receiveHead(status, 1, fields);
  }

  onData(chunk: Buffer): void {
    this.since = performance.now();
    this.request?.onData(chunk);
  }

  onEnd(trailers: string[]): void {
    if (this.request === null || this.framing === null) return;
    const { kind, reusable } = this.framing;
    // undici takes a reset for the end of such a body.
    if (kind === 'close' && this.socket.errored !== null) this.#onLost(this.socket);
    else this.complete(reusable && this.isSent && this.request.upgrade === null, trailers);
  }

  onSwitch(fields: string[], socket: Duplex): void {
    if (this.request !== null) this.handOver(fields, socket, Buffer.alloc(0));
  }

  onError(error: Error & { code?: string }): void {
    const isLost = lost.has(error.code ?? '') || error.message === 'connection lost';
    this.fail(new UpstreamError(isLost ? 'reset' : 'malformed', error));
  }

  #onLost(socket: Socket): void {
    if (socket === this.socket)
      this.fail(new UpstreamError(this.isConnected ? 'reset' : 'refused', socket.errored));
  }
}

/** Names and values in turn, as undici read them. */
function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return ((raw ?? []) as Buffer[]).map((text) => text.toString('latin1'));
}

function ignore(): void {}
