import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { ForwardedBody } from '../http/request-body.ts';
import type { OpenStream, OpenStreams } from './open-streams.ts';
import { requestHeaders } from './request-headers.ts';
import { type AnswerRules, answerHead } from './response-headers.ts';
import type { Route } from './route-table.ts';
import { diedIdle, upstreamRefusal } from './upstream.ts';

/** What forwarding needs beside the exchange, the same for all. */
export interface ForwardOptions extends AnswerRules {
  readonly streams: OpenStreams;
  readonly bodyIdleTimeoutMs: number;
  /** How long a client may leave an answer unread before its connection is cut. */
  readonly writeIdleTimeoutMs: number;
  /** Flat CORS header list of an answer; empty when the upstream owns CORS. */
  readonly corsHeaders: (exchange: Exchange) => readonly string[];
  /** Writes a refusal. */
  readonly refuse: (exchange: Exchange, error: unknown) => void;
}

/** Sends an admitted exchange to its upstream and the answer back. Never throws. */
export type Forward = (exchange: Exchange, route: Route, principal: Principal | null) => void;

/** Builds the last step of the request path. */
export function createForward(options: ForwardOptions): Forward {
  return (exchange, route, principal) => new ForwardedRequest(exchange, route, principal, options).start();
}

const noScopes: readonly string[] = [];
const retried: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The longest body that is worth a copy to leave in one piece with its head. */
const onePieceBytes = 16 * 1024;

/** Ends the answer with its last bytes. A short one goes as text, byte for byte: Node then makes one write of both. */
function endWith(response: ServerResponse, chunk: Buffer): void {
  if (chunk.length <= onePieceBytes) response.end(chunk.toString('latin1'), 'latin1');
  else response.end(chunk);
}

function flushHead(request: ForwardedRequest): void {
  request.flushHead();
}

/** One request on its way through: undici's handler, the client's exchange and the registry's stream in one. */
class ForwardedRequest implements Dispatcher.DispatchHandler, OpenStream {
  readonly principal: Principal;
  readonly neededScopes: readonly string[];
  readonly #exchange: Exchange;
  readonly #route: Route;
  readonly #options: ForwardOptions;
  readonly #authenticated: boolean;
  #controller: Dispatcher.DispatchController | null = null;
  #body: ForwardedBody | null = null;
  /** Bytes of the answer's body still to come, or -1 when that isn't known. */
  #remaining = -1;
  #waitsForDrain = false;
  #mayRetry: boolean;
  #over = false;
  #released = false;

  constructor(exchange: Exchange, route: Route, principal: Principal | null, options: ForwardOptions) {
    this.#exchange = exchange;
    this.#route = route;
    this.#options = options;
    this.#authenticated = principal !== null;
    this.principal = principal!;
    this.neededScopes = principal === null || route.isPublic ? noScopes : route.scopesFor(exchange.method);
    this.#mayRetry = retried.has(exchange.method) && !exchange.head.hasBody;
  }

  start(): void {
    const exchange = this.#exchange;
    try {
      if (exchange.head.hasBody) this.#body = this.#openBody();
      this.#dispatch();
    } catch (error) {
      this.#body?.destroy();
      this.#over = true;
      this.#options.refuse(exchange, error);
    }
    if (this.#over) return;
    if (this.#authenticated) this.#options.streams.add(this);
    exchange.onClose = () => this.#clientGone();
  }

  #openBody(): ForwardedBody {
    const body = new ForwardedBody(this.#exchange, {
      maxBytes: this.#route.maxBodyBytes,
      idleTimeoutMs: this.#options.bodyIdleTimeoutMs,
    });
    body.on('error', () => {});
    return body;
  }

  #dispatch(): void {
    const exchange = this.#exchange;
    const route = this.#route;
    const { upstream } = route;
    this.#released = false;
    upstream.dispatch(
      {
        path: exchange.target,
        method: exchange.method as Dispatcher.HttpMethod,
        headers: requestHeaders(exchange.head, {
          identityHeaders: this.#authenticated ? this.principal.identityHeaders : noScopes,
          host: upstream.host ?? (exchange.head.host === '' ? upstream.authority : exchange.head.host),
          requestId: exchange.id,
          peer: exchange.peer,
          encrypted: exchange.encrypted,
          fromTrustedProxy: exchange.fromTrustedProxy,
          ownCookies: this.#options.ownCookies,
          withoutCredentials: !this.#authenticated && !this.#route.isPublic,
        }),
        body: this.#body,
        headersTimeout: route.responseTimeoutMs,
        bodyTimeout: route.idleTimeoutMs,
      },
      this,
    );
  }

  #release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#route.upstream.release();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('the client went away'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#over) return;
    const exchange = this.#exchange;
    const { headers, contentLength } = answerHead(
      (controller.rawHeaders ?? []) as Buffer[],
      exchange.id,
      this.#authenticated,
      this.#options,
    );
    this.#remaining = contentLength;
    for (const text of this.#options.corsHeaders(exchange)) headers.push(text);
    exchange.response.writeHead(status, headers);
    // A head must not wait for a first byte that is not here yet; mostly it is, and they leave in one write.
    if (contentLength !== 0) process.nextTick(flushHead, this);
  }

  /** Sends the head alone if no byte of the body came with it. */
  flushHead(): void {
    if (!this.#over && this.#exchange.bytesOut === 0 && !this.#exchange.response.writableEnded)
      this.#exchange.response.flushHeaders();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const exchange = this.#exchange;
    if (this.#over) return;
    exchange.bytesOut += chunk.length;
    if (this.#remaining === chunk.length) {
      this.#remaining = 0;
      endWith(exchange.response, chunk);
      return;
    }
    if (this.#remaining > 0) this.#remaining -= chunk.length;
    if (exchange.response.write(chunk)) return;
    controller.pause();
    if (this.#waitsForDrain) return;
    this.#waitsForDrain = true;
    const slow = setTimeout(() => this.end('client_too_slow'), this.#options.writeIdleTimeoutMs);
    const resume = () => {
      clearTimeout(slow);
      exchange.response.off('drain', resume).off('close', resume);
      this.#waitsForDrain = false;
      this.#controller?.resume();
    };
    exchange.response.on('drain', resume).on('close', resume);
  }

  onResponseEnd(_controller: Dispatcher.DispatchController): void {
    this.#release();
    if (this.#over || this.#exchange.response.writableEnded) return;
    this.#exchange.response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#release();
    this.#body?.destroy();
    if (this.#over) return;
    const exchange = this.#exchange;
    if (exchange.response.headersSent) {
      this.#finish();
      exchange.reset(error instanceof Refusal ? error.code : 'upstream_aborted');
    } else if (this.#mayRetry && diedIdle(error)) {
      this.#mayRetry = false;
      this.#tryAgain();
    } else {
      this.#finish();
      this.#options.refuse(exchange, upstreamRefusal(error));
    }
  }

  #tryAgain(): void {
    try {
      this.#dispatch();
    } catch (error) {
      this.#finish();
      this.#options.refuse(this.#exchange, error);
    }
  }

  /** Ends both sides without a proper end: the credential has ended, or the client takes nothing. */
  end(reason: string): void {
    if (this.#over) return;
    this.#finish();
    this.#abort(new Error(reason));
    this.#exchange.reset(reason);
  }

  #clientGone(): void {
    if (this.#over) return;
    const { response } = this.#exchange;
    this.#finish();
    if (response.writableFinished) return;
    this.#exchange.outcome = 'client_aborted';
    this.#abort(new Error('the client went away'));
  }

  #abort(reason: Error): void {
    this.#body?.destroy();
    this.#controller?.abort(reason);
  }

  #finish(): void {
    this.#over = true;
    if (this.#authenticated) this.#options.streams.remove(this);
  }
}
