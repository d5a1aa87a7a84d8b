import { Agent, type ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair, Readable } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import { Client, type Dispatcher } from 'undici';
import type { UpstreamRequest } from '../http1/client/client-request.ts';
import { maxHeadBytes, PoolMember, type ResponseSource } from '../http1/client/pool-member.ts';
import { upgradeNamedIn } from '../http1/client/response-framing.ts';
import { UpstreamError } from '../http1/client/upstream-error.ts';
import { MalformedMessage } from '../http1/message/message-head.ts';

/** Error codes by which undici and Node's parser report malformed responses, not failed connections. */
const malformed = /^(?:HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RES_))/;

/** Connection to an upstream through undici or, for upgrades, http-proxy-3, under the rules of our own pool. */
export class UndiciConnection extends PoolMember {
  protected source: ResponseSource | null = null;
  #client: Client | null = null;
  #body: Readable | null = null;

  // A getter, because the base's constructor dials before this object's own fields are set.
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
    // undici frames the body itself, and rejects a request that has its own framing.
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
    // Skips the head that http-proxy-3 wrote for the client.
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

/**
 * Asks an upstream for another protocol on `socket` through http-proxy-3, which gets our request in place of the client's, and
 * one end of a pair of streams in place of the client's socket: both engines then apply the same rules. Returns the request of
 * http-proxy-3 and the other end of the pair, where the response that it writes to the client arrives first.
 */
function requestUpgrade(request: UpstreamRequest, socket: Socket): [ClientRequest, Duplex] {
  const [near, far] = duplexPair();
  let outgoing: ClientRequest | undefined;
  const proxy = createProxyServer({
    target: { protocol: 'http:', host: 'upstream', port: 80 },
    agent: Object.assign(new Agent(), { createConnection: () => socket }),
    method: request.method,
    ignorePath: true,
  });
  // http-proxy-3 accepts only a GET for a WebSocket; the values that it sends are set here.
  const asked = new IncomingMessage(socket);
  Object.assign(asked, { method: 'GET', url: '/', headers: { upgrade: 'websocket' } });
  proxy.on('proxyReqWs', (proxied: ClientRequest) => {
    outgoing = proxied;
    proxied.path = request.target;
    for (const name of proxied.getHeaderNames()) proxied.removeHeader(name);
    const { fields } = request;
    for (let i = 0; i < fields.length; i += 2) proxied.appendHeader(fields[i]!, fields[i + 1]!);
    // http-proxy-3 would write the response to the pair.
    proxied.on('response', () => near.destroy());
    proxied.on('upgrade', () => near.on('close', () => far.destroy()));
  });
  far.on('close', () => socket.destroy());
  const chained = () => near;
  const client = { setTimeout: chained, setNoDelay: chained, setKeepAlive: chained };
  Object.assign(near, client, { destroySoon: () => near.destroy() });
  proxy.ws(asked, near as unknown as Socket, Buffer.alloc(0), () => {});
  return [outgoing!, far];
}

function textsOf(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return ((raw ?? []) as Buffer[]).map((text) => text.toString('latin1'));
}

function ignore(): void {}
