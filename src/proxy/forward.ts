import type { Duplex } from 'node:stream';
import type { Principal } from '../credentials/principal.ts';
import type { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RequestConnection, UpstreamRequest } from '../http1/client-request.ts';
import { type HeadText, headText } from '../http1/head-text.ts';
import { releaseBuffer } from '../http1/release-buffer.ts';
import type { UpstreamError } from '../http1/upstream-error.ts';
import type { ForwardOptions } from './forward-options.ts';
import { type BodyOwner, ForwardedBody } from './forwarded-body.ts';
import { HeldBack } from './held-back.ts';
import type { OpenStream } from './open-streams.ts';
import { requestHeaders } from './request-headers.ts';
import { responseFields, trailerFields } from './response-headers.ts';
import type { Route } from './route-table.ts';
import type { Tunnel } from './tunnel.ts';
import { openTunnel, switchFields, upgradeOf } from './upgrade.ts';

/** Sends an admitted exchange to its upstream and the response back. Throws `UnwritableHead` alone, before it begins. */
export type Forward = (
  exchange: Exchange,
  route: Route,
  principal: Principal | null,
  /** A CORS preflight that is the upstream's to answer: it goes without any credential, and without its query. */
  preflight?: boolean,
) => void;

/** Builds the last step of the request path. */
export function createForward(options: ForwardOptions): Forward {
  const heldBack = new HeldBack();
  return (exchange, route, principal, preflight = false) =>
    new ForwardedRequest(exchange, route, principal, preflight, options).start(heldBack);
}

const none: readonly string[] = [];

/** Methods that may be sent once more when the connection turns out to have been dead (RFC 9110 §9.2.2). */
const retried: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** One request on its way through: the upstream's counterpart, the owner of the client's body, the registry's stream. */
class ForwardedRequest implements UpstreamRequest, BodyOwner, OpenStream {
  readonly neededScopes: readonly string[];
  readonly method: string;
  readonly target: string;
  readonly fields: readonly string[];
  readonly headText: HeadText;
  readonly chunked: boolean;
  readonly hasBody: boolean;
  readonly upgrade: string | null;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  bodyOnItsWay: boolean;
  waitingSince = 0;
  takenAt = 0;
  readonly #exchange: Exchange;
  readonly #route: Route;
  /** Null: the request came without a credential, and no end of one ends it. */
  readonly #principal: Principal | null;
  readonly #options: ForwardOptions;
  connection: RequestConnection | null = null;
  #mayRetry: boolean;
  #body: ForwardedBody | null = null;
  /** Bytes of the response's body still to come, or -1 when that isn't known. */
  #remaining = -1;
  #last: Buffer | undefined = undefined;
  #tunnel: Tunnel | null = null;
  #over = false;

  constructor(
    exchange: Exchange,
    route: Route,
    principal: Principal | null,
    preflight: boolean,
    options: ForwardOptions,
  ) {
    this.#exchange = exchange;
    this.#route = route;
    this.#options = options;
    this.#principal = principal;
    this.neededScopes = principal === null || route.isPublic ? none : route.scopesFor(exchange.method);
    const { head, method } = exchange;
    this.method = method;
    this.target = preflight ? exchange.path : exchange.target;
    this.hasBody = head.hasBody;
    this.bodyOnItsWay = head.hasBody;
    this.upgrade = upgradeOf(exchange, route);
    this.chunked = head.framing.isChunked;
    this.connectTimeoutMs = route.connectTimeoutMs;
    this.responseTimeoutMs = route.responseTimeoutMs;
    this.idleTimeoutMs = route.idleTimeoutMs;
    this.#mayRetry = !head.hasBody && retried.has(method);
    this.fields = requestHeaders(head, {
      identityHeaders: principal === null ? none : route.identityHeadersOf(principal),
      host: route.upstream.host ?? (head.host === '' ? route.upstream.authority : head.host),
      requestId: exchange.id,
      peer: exchange.connection.peer,
      encrypted: exchange.connection.encrypted,
      fromTrustedProxy: exchange.fromTrustedProxy,
      passedMeaning: options.passedMeaning,
      ownCookies: options.ownCookies,
      withoutCredentials: preflight,
      upgrade: this.upgrade,
      traceparent: exchange.trace === null ? null : exchange.trace.traceparent,
    });
    this.headText = headText(`${method} ${this.target} HTTP/1.1`, this.fields);
  }

  start(heldBack: HeldBack): void {
    const exchange = this.#exchange;
    // The client may have gone while its credential was looked at: nothing would ever end what is begun for it.
    if (exchange.isGone) return;
    if (this.#principal !== null) this.#options.streams.add(this.#principal, this);
    exchange.onClose = () => this.#clientGone();
    if (this.hasBody) {
      this.#body = new ForwardedBody(exchange, this.#route, this, heldBack);
      this.#body.start();
    } else this.onBodyReady();
  }

  onSent(): void {
    this.#body?.send();
  }

  // The client's body, on its way up.

  onBodyReady(): void {
    this.bodyOnItsWay = this.hasBody && !this.#exchange.bodyDone;
    try {
      this.#route.upstream.send(this);
    } catch (error) {
      this.#fail(error, 'upstream_overloaded');
    }
  }

  onBodyCame(): void {
    this.bodyOnItsWay = false;
    this.#route.upstream.bodyCame(this);
  }

  onBodyRefused(refusal: Refusal): void {
    this.#stop(refusal);
  }

  onDrain(): void {
    if (!this.#over) this.#body?.resume();
  }

  // The upstream's response, on its way down.

  onInterim(status: number, fields: string[]): void {
    // 100 is Postern's own to say, and was said.
    if (status === 100) return;
    try {
      this.#exchange.response.inform(status, trailerFields(fields));
    } catch (error) {
      this.#giveUp(error);
    }
  }

  onHead(status: number, fields: string[], length: number): void {
    const exchange = this.#exchange;
    this.#remaining = length;
    const all = responseFields(fields, exchange.id, this.#principal !== null, this.#options);
    for (const text of this.#options.corsHeaders(exchange)) all.push(text);
    try {
      exchange.begin(status, all, length);
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    // A head must not wait for a first byte that is not here yet; mostly it is, and they leave in one write.
    if (length !== 0) process.nextTick(flushResponse, exchange);
  }

  onData(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (this.#remaining >= 0) {
      this.#remaining -= chunk.length;
      if (this.#remaining === 0) {
        // The last bytes leave with the end, once the connection has said that nothing came after them.
        this.#last = chunk;
        return;
      }
    }
    const keepsUp = exchange.write(chunk);
    releaseBuffer(chunk, exchange.connection.socket);
    if (keepsUp) return;
    const connection = this.connection!;
    connection.pause();
    exchange.onDrain = () => connection.resume();
  }

  onEnd(trailers: string[]): void {
    if (this.#over) return;
    this.#finish();
    try {
      this.#exchange.end(this.#last, trailers.length === 0 ? none : trailerFields(trailers));
    } catch (error) {
      this.#options.refuse(this.#exchange, error);
    }
  }

  onError(error: UpstreamError): void {
    if (this.#over) return;
    if (error.diedIdle && this.#mayRetry) {
      this.#mayRetry = false;
      this.#sendAgain();
    } else this.#fail(error.asRefusal(), 'upstream_aborted');
  }

  #sendAgain(): void {
    this.connection = null;
    try {
      this.#route.upstream.sendAgain(this);
    } catch (error) {
      this.#fail(error, 'upstream_aborted');
    }
  }

  onSwitch(fields: string[], upstream: Duplex, fromUpstream: Buffer): void {
    const exchange = this.#exchange;
    try {
      exchange.response.switchProtocols(switchFields(fields, exchange, this.upgrade!, this.#options));
    } catch (error) {
      upstream.destroy();
      this.#giveUp(error);
      return;
    }
    this.#tunnel = openTunnel(exchange, upstream, fromUpstream, this.upgrade!, this.idleTimeoutMs);
    this.#tunnel.start();
  }

  // What ends it before its time.

  /** Something on the client's side ended it: the upstream is told by the end of its connection. */
  #stop(refusal: Refusal): void {
    if (this.#over) return;
    this.#abandon();
    this.#fail(refusal, refusal.code);
  }

  /** The client's head can't be written: the upstream's response is wanted no more, and the log gets the reason. */
  #giveUp(error: unknown): void {
    this.#abandon();
    this.#finish();
    this.#options.refuse(this.#exchange, error);
  }

  /** Refuses, or once a response was begun breaks it off: what is cut must not look whole. */
  #fail(error: unknown, outcome: string): void {
    this.#finish();
    if (this.#exchange.response.begun) this.#exchange.reset(outcome);
    else this.#options.refuse(this.#exchange, error);
  }

  /** Ends both sides without a proper end: the credential has ended. */
  end(reason: string): void {
    if (this.#over) return;
    this.#finish();
    if (this.#tunnel !== null) {
      this.#exchange.outcome = reason;
      this.#tunnel.end();
      return;
    }
    this.#abandon();
    this.#exchange.reset(reason);
  }

  #clientGone(): void {
    if (this.#over) return;
    this.#finish();
    // What a tunnel's client said before it went is still the upstream's.
    if (this.#tunnel === null) this.#abandon();
  }

  /** The upstream connection goes with its request: its response is wanted no more, and its place is free at once. */
  #abandon(): void {
    if (this.connection === null) this.#route.upstream.forget(this);
    else this.connection.destroy();
  }

  #finish(): void {
    this.#over = true;
    this.#exchange.takenAt = this.takenAt;
    if (this.#body !== null) {
      // The client's time, not ours.
      if (this.takenAt > 0) this.#exchange.takenAt -= this.#body.heldMs;
      this.#body.drop();
      this.#route.upstream.forget(this);
    }
    if (this.#principal !== null) this.#options.streams.remove(this.#principal, this);
  }
}

function flushResponse(exchange: Exchange): void {
  exchange.response.flush();
}
