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
import { assertNoInterimBody, framingOf, type ResponseFraming } from '../http1/response-framing.ts';
import { UpstreamError, type UpstreamFailure } from '../http1/upstream-error.ts';
import { requestUpgrade, type UpgradeEvents } from './upgrade.ts';

/** Opens a connection of undici's for a pool, which owns it. */
export function openUndiciConnection(target: SocketTarget, owner: ConnectionOwner): PooledConnection {
  return new UndiciConnection(target, owner);
}

const maxHeadBytes = 64 * 1024;
/** Interim responses to one request; a flood of them is no service. */
const maxInterim = 32;
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
class UndiciConnection implements PooledConnection, Dispatcher.DispatchHandler, UpgradeEvents {
  since = performance.now();
  #keepAliveMs = defaultKeepAliveMs;
  readonly #target: SocketTarget;
  readonly #owner: ConnectionOwner;
  #socket: Socket;
  #client: Client | null = null;
  #controller: Pick<Dispatcher.DispatchController, 'pause' | 'resume'> | null = null;
  #request: UpstreamRequest | null = null;
  #body: Readable | null = null;
  #framing: ResponseFraming | null = null;
  #connected = false;
  #sent = false;
  #gotBytes = false;
  #paused = false;
  #dead = false;
  #interim = 0;
  #responses = 0;

  constructor(target: SocketTarget, owner: ConnectionOwner) {
    this.#target = target;
    this.#owner = owner;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    const socket = connectSocket(this.#target);
    this.#connected = false;
    socket.setNoDelay(true);
    socket.once(connectEvent(this.#target), () => {
      this.#connected = true;
      this.since = performance.now();
    });
    let cause: Error | undefined;
    socket.on('error', (error) => {
      cause = error;
    });
    // undici knows better why, and says so first.
    socket.on('close', () => process.nextTick(() => socket === this.#socket && this.#onLost(cause)));
    return socket;
  }

  send(request: UpstreamRequest): void {
    this.#request = request;
    request.connection = this;
    this.#framing = null;
    this.#gotBytes = false;
    this.#paused = false;
    this.#interim = 0;
    this.#sent = !request.hasBody;
    this.since = performance.now();
    if (request.takenAt === 0) request.takenAt = this.since;
    if (request.upgrade !== null) this.#sendUpgrade(request);
    else this.#dispatch(request);
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
    const socket = this.#socket;
    let isTaken = false;
    return new Client('http://upstream', {
      // One connection is all there is: a lost one is the pool's to replace.
      connect: (_options, callback) => {
        if (isTaken) callback(new Error('connection lost'), null);
        else if (this.#connected) callback(null, socket);
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
  #sendUpgrade(request: UpstreamRequest): void {
    if (this.#client !== null) {
      const used = this.#socket;
      this.#socket = this.#connect();
      used.destroy();
    }
    this.#controller = requestUpgrade(request, this.#socket, this);
  }

  // What the pool and the request ask for.

  write(bytes: Buffer): boolean {
    this.since = performance.now();
    return this.#body!.push(bytes);
  }

  endBody(): void {
    this.#sent = true;
    this.since = performance.now();
    this.#body!.push(null);
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.since = performance.now();
    this.#controller?.resume();
  }

  destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#request = null;
    this.#body?.destroy();
    this.#socket.destroy();
    this.#owner.onGone(this);
  }

  isStale(now: number): boolean {
    return now - this.since > this.#keepAliveMs;
  }

  checkTime(now: number): void {
    const request = this.#request;
    const waited = now - this.since;
    if (request === null) {
      if (this.isStale(now)) this.destroy();
    } else if (!this.#connected) {
      if (waited > request.connectTimeoutMs) this.#fail('connect_timeout');
    } else if (this.#framing === null) {
      // While the body is on its way the upstream is not late, unless it takes none of it.
      const isItsTurn = this.#sent || this.#socket.writableNeedDrain;
      if (isItsTurn && waited > request.responseTimeoutMs) this.#fail('response_timeout');
    } else if (!this.#paused && waited > request.idleTimeoutMs) this.#fail('idle_timeout');
  }

  // What undici tells.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#dead) controller.abort(new Error('not wanted any more'));
    else this.#request?.onSent();
  }

  onResponseStarted(): void {
    this.#gotBytes = true;
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
    const request = this.#request;
    if (request === null) return;
    if (status < 100 || bytesOf(fields) > maxHeadBytes) throw new MalformedMessage('head');
    if (status < 200) {
      if (++this.#interim > maxInterim) throw new MalformedMessage('too many interim answers');
      assertNoInterimBody(fields);
      this.since = performance.now();
      request.onInterim(status, fields);
      return;
    }
    this.#framing = framingOf(request.method, status, 1, fields);
    this.#keepAliveMs = this.#framing.keepAliveMs ?? this.#keepAliveMs;
    this.since = performance.now();
    request.onHead(status, fields, this.#framing.announced);
  }

  onData(chunk: Buffer): void {
    this.since = performance.now();
    this.#request?.onData(chunk);
  }

  onEnd(trailers: string[]): void {
    const request = this.#request;
    if (request === null) return;
    const isReusable = this.#framing!.reusable && this.#sent && request.upgrade === null;
    this.#request = null;
    this.#responses++;
    this.since = performance.now();
    // undici is not through with the response that it tells about.
    if (!isReusable) process.nextTick(() => this.destroy());
    request.onEnd(trailers);
    if (isReusable && !this.#dead) this.#owner.onFree(this);
  }

  /** The upstream agreed to an upgrade: the connection is the request's own now. */
  onSwitch(fields: string[], socket: Duplex): void {
    const request = this.#request;
    if (request === null) return;
    this.#dead = true;
    this.#request = null;
    this.#owner.onGone(this);
    request.onSwitch(fields, socket, Buffer.alloc(0));
  }

  onError(error: Error & { code?: string }): void {
    const isLost = lost.has(error.code ?? '') || error.message === 'connection lost';
    this.#fail(isLost ? 'reset' : 'malformed', error);
  }

  #onLost(cause: Error | undefined): void {
    if (this.#connected) this.#fail('reset', cause);
    else this.#fail('refused', cause);
  }

  #fail(kind: UpstreamFailure, cause?: Error): void {
    if (this.#dead) return;
    const request = this.#request;
    this.destroy();
    if (request === null) return;
    const error = new UpstreamError(kind, cause);
    error.diedIdle = this.#responses > 0 && !this.#gotBytes && kind === 'reset';
    request.onError(error);
  }
}

/** Names and values in turn, as undici read them. */
function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return ((raw ?? []) as Buffer[]).map((text) => text.toString('latin1'));
}

/** How long the fields were, which undici counts without what stands around names and values. */
function bytesOf(fields: readonly string[]): number {
  return fields.reduce((sum, text) => sum + text.length + 2, 0);
}

function ignore(): void {}
