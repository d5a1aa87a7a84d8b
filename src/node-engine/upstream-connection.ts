import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import type { UpstreamRequest } from '../http1/client/client-request.ts';
import { maxHeadBytes, PoolMember, type ResponseSource } from '../http1/client/pool-member.ts';
import { upgradeNamedIn } from '../http1/client/response-framing.ts';
import { UpstreamError } from '../http1/client/upstream-error.ts';
import { MalformedMessage } from '../http1/message/message-head.ts';
import { requestUpgrade } from './upgrade.ts';

/** Error codes of undici and of Node's parser about malformed responses rather than the connection. */
const malformed = /^(?:HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RES_))/;

/** Connection to an upstream by undici, and by http-proxy-3 for upgrades; the pool's rules are ours. */
export class UndiciConnection extends PoolMember {
  protected source: ResponseSource | null = null;
  #client: Client | null = null;
  #body: Readable | null = null;

  // The pool dials before this object is complete.
  get readsStream(): boolean {
    return true;
  }

  protected listenTo(socket: Socket): void {
    socket.on('error', ignore);
    // undici knows the cause better, and reports it first.
    socket.on('close', () =>
      process.nextTick(() => {
        if (socket === this.socket) this.#onError(socket.errored ?? new Error('connection lost'));
      }),
    );
  }

  protected carry(request: UpstreamRequest): void {
    if (request.upgrade === null) this.#dispatch(request);
    else this.#askToSwitch(request);
  }

  #dispatch(request: UpstreamRequest): void {
    const { method, target: path, fields } = request;
    // undici frames the body itself, and rejects a request that does so, too.
    const headers = fields.filter((_, i) => fields[i - (i % 2)]!.toLowerCase() !== 'transfer-encoding');
    this.#body = request.hasBody ? new Readable({ read: () => request.onDrain() }) : null;
    this.#body?.on('error', ignore);
    this.#client ??= this.#openClient();
    this.#client.dispatch({ method, path, headers, body: this.#body } as Dispatcher.DispatchOptions, {
      onRequestStart: () => this.request?.onSent(),
      onResponseStarted: () => {
        this.gotBytes = true;
      },
      onResponseStart: (controller, status) =>
        this.#onHead(status, textsOf(controller.rawHeaders), controller),
      onResponseData: (_controller, chunk) => this.#onData(chunk),
      onResponseEnd: (controller) => this.#onEnd(textsOf(controller.rawTrailers)),
      onResponseError: (_controller, error) => this.#onError(error),
    });
  }

  #openClient(): Client {
    return new Client('http://upstream', {
      // A single connection: the pool replaces a lost one.
      connect: (_options, callback) => {
        const socket = this.socket!;
        process.nextTick(callback, socket.destroyed ? new Error('connection lost') : null, socket);
      },
      // The pool polls timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: maxHeadBytes,
    });
  }

  #askToSwitch(request: UpstreamRequest): void {
    if (this.#client !== null) {
      // http-proxy-3 needs an unused socket: `carry` is called again once a new one has connected.
      this.#client = null;
      this.dialAgain();
      return;
    }
    const [outgoing, socket] = requestUpgrade(request, this.socket!);
    outgoing.on('information', ({ statusCode, rawHeaders }) => this.#onHead(statusCode, rawHeaders, null));
    outgoing.on('upgrade', ({ rawHeaders }) => this.#onSwitch(rawHeaders, socket));
    outgoing.on('response', (response) => {
      this.#onHead(response.statusCode ?? 0, response.rawHeaders, response);
      response.on('data', (chunk: Buffer) => this.#onData(chunk));
      response.on('end', () => this.#onEnd(response.rawTrailers));
    });
    outgoing.on('error', (error) => this.#onError(error));
  }

  write(bytes: Buffer): boolean {
    this.since = performance.now();
    return this.#body!.push(bytes);
  }

  endBody(): void {
    this.isSent = true;
    this.since = performance.now();
    this.#body!.push(null);
  }

  override destroy(): void {
    super.destroy();
    this.#body?.destroy();
  }

  #onHead(status: number, fields: string[], source: ResponseSource | null): void {
    if (this.request === null) return;
    this.source = source;
    this.since = performance.now();
    const bytes = fields.reduce((sum, text) => sum + text.length + 2, 0);
    try {
      if (status < 100 || status === 101 || bytes > maxHeadBytes) throw new MalformedMessage('head');
      // Bytes of the body that have already arrived follow in this turn.
      if (this.receiveHead(status, 1, fields)) process.nextTick(() => this.request?.onCaughtUp());
    } catch (error) {
      this.#onError(error as Error);
    }
  }

  #onData(chunk: Buffer): void {
    this.since = performance.now();
    this.request?.onData(chunk);
  }

  #onEnd(trailers: string[]): void {
    if (this.request === null || this.framing === null) return;
    const { kind, reusable } = this.framing;
    // undici takes a reset for the end of such a body.
    const errored = this.socket?.errored ?? null;
    if (kind === 'close' && errored !== null) this.#onError(errored);
    else this.complete(reusable && this.isSent && this.request.upgrade === null, trailers);
  }

  #onSwitch(fields: string[], socket: Duplex): void {
    const { request } = this;
    // The head that http-proxy-3 wrote for the client.
    socket.read();
    if (request === null) return;
    if (upgradeNamedIn(fields) === request.upgrade) this.handOver(fields, socket, Buffer.alloc(0));
    else this.#onError(new MalformedMessage('unexpected 101'));
  }

  #onError(error: Error & { readonly code?: string }): void {
    const isMalformed = error instanceof MalformedMessage || malformed.test(error.code ?? '');
    this.fail(new UpstreamError(isMalformed ? 'malformed' : 'reset', error));
  }
}

/** Names and values in turn, as undici read them. */
function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return ((raw ?? []) as Buffer[]).map((text) => text.toString('latin1'));
}

function ignore(): void {}
