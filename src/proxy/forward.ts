import type { Duplex } from 'node:stream';
import type { Principal } from '../credentials/principal.ts';
import type { Refusal } from '../errors.ts';
import type { Exchange, ExchangeOwner } from '../http/exchange.ts';
import {
  type RequestConnection,
  retriedMethods,
  type UpstreamRequest,
} from '../http1/client/client-request.ts';
import type { UpstreamError } from '../http1/client/upstream-error.ts';
import { type HeadText, withField } from '../http1/message/head-text.ts';
import { releaseBuffer } from '../http1/message/release-buffer.ts';
import type { ForwardOptions } from './forward-options.ts';
import { type BodyOwner, ForwardedBody, type HeldBodies } from './forwarded-body.ts';
import type { OpenStream } from './open-streams.ts';
import {
  assertionHeader,
  type Forwarding,
  forwardingOf,
  requestFields,
  requestHeadText,
} from './request-headers.ts';
import { forwardedResponseFields, trailerFields } from './response-headers.ts';
import type { ForwardingRoute } from './route-table.ts';
import type { Tunnel } from './tunnel.ts';
import { openTunnel, switchFields, upgradeOf } from './upgrade.ts';
import { noteUpstreamFailure } from './upstream-failure.ts';

const none: readonly string[] = [];

/**
 * A forwarded request. One object handles the events of the upstream's connection, sends the client's body, and is ended by the
 * registry together with its credential: the three roles share nearly all of their state, and splitting them would cost every
 * request two more objects and their links, on a path that is measured in microseconds.
 */
export class ForwardedRequest implements UpstreamRequest, BodyOwner, ExchangeOwner, OpenStream {
  readonly neededScopes: readonly string[];
  readonly method: string;
  readonly target: string;
  readonly chunked: boolean;
  readonly hasBody: boolean;
  readonly upgrade: string | null;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  isUploading: boolean;
  waitingSince = 0;
  takenAt = 0;
  index = -1;
  readonly #exchange: Exchange;
  readonly #route: ForwardingRoute;
  /** Null for a request without a credential, which isn't registered to end with one. */
  readonly #principal: Principal | null;
  readonly #options: ForwardOptions;
  readonly #forwarding: Forwarding;
  /** The head with all fields but the assertion. */
  readonly #headText: HeadText;
  connection: RequestConnection | null = null;
  #mayRetry: boolean;
  #body: ForwardedBody | null = null;
  /** Bytes of the response's body that have yet to arrive; -1 if unknown. */
  #remaining = -1;
  #last: Buffer | undefined = undefined;
  #tunnel: Tunnel | null = null;
  #over = false;

  constructor(
    exchange: Exchange,
    route: ForwardingRoute,
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
    const target = preflight ? exchange.path : exchange.target;
    this.target = route.sentTarget === null ? target : route.sentTarget(target);
    this.hasBody = head.hasBody;
    this.isUploading = head.hasBody;
    this.upgrade = upgradeOf(exchange, route);
    this.chunked = head.framing.isChunked;
    this.connectTimeoutMs = route.connectTimeoutMs;
    this.responseTimeoutMs = route.responseTimeoutMs;
    this.idleTimeoutMs = route.idleTimeoutMs;
    this.#mayRetry = !head.hasBody && retriedMethods.has(method);
    this.#forwarding = forwardingOf(exchange, route, principal, preflight, this.upgrade, options);
    this.#headText = requestHeadText(`${method} ${this.target} HTTP/1.1`, head, this.#forwarding);
  }

  // An assertion is signed when it is sent: a request may wait for its body or a connection, and may be sent again.
  get fields(): readonly string[] {
    const fields = requestFields(this.#exchange.head, this.#forwarding);
    return this.#route.assert === null ? fields : [...fields, assertionHeader, this.#assertion()];
  }

  get headText(): HeadText {
    if (this.#route.assert === null) return this.#headText;
    return withField(this.#headText, assertionHeader, this.#assertion());
  }

  #assertion(): string {
    return this.#route.assert!(this.method, this.target, this.#exchange.id, this.#principal);
  }

  start(heldBodies: HeldBodies): void {
    const exchange = this.#exchange;
    // The client may have disconnected during authentication: nothing would ever end a request that starts after that.
    if (exchange.isGone) return;
    if (this.#principal !== null) this.#options.streams.add(this.#principal, this);
    exchange.owner = this;
    if (this.hasBody) {
      this.#body = new ForwardedBody(exchange, this.#route, this, heldBodies);
      this.#body.start();
    } else this.onBodyReady();
  }

  onSent(): void {
    this.#body?.send();
  }

  // From the client's body.

  onBodyReady(): void {
    this.isUploading = this.hasBody && !this.#exchange.bodyDone;
    this.#send('send');
  }

  #send(how: 'send' | 'sendAgain'): void {
    try {
      this.#route.upstream[how](this);
    } catch (error) {
      this.#fail(error, 'upstream_overloaded');
    }
  }

  onBodyReceived(): void {
    this.isUploading = false;
    this.#route.upstream.bodyReceived(this);
  }

  onBodyRefused(refusal: Refusal): void {
    if (this.#over) return;
    this.#abandon();
    this.#fail(refusal, refusal.code);
  }

  onDrain(): void {
    if (!this.#over) this.#body?.resume();
  }

  // From the upstream's response.

  onInterim(status: number, fields: string[]): void {
    // Postern sends 100 to the client itself, before it reads the body.
    if (status === 100) return;
    try {
      this.#exchange.response.sendInterim(status, trailerFields(fields));
    } catch (error) {
      this.#giveUp(error);
    }
  }

  onHead(status: number, fields: string[], length: number): void {
    const exchange = this.#exchange;
    this.#remaining = length;
    const own = forwardedResponseFields(fields, exchange, this.#principal, this.#options);
    try {
      exchange.begin(status, own, length);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  onData(chunk: Buffer): void {
    const exchange = this.#exchange;
    if (this.#remaining >= 0) {
      this.#remaining -= chunk.length;
      if (this.#remaining === 0) {
        // The last bytes are sent by onEnd, once it is certain that the upstream sent nothing after them.
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

  onCaughtUp(): void {
    // The head must not wait for a body that hasn't arrived; usually it has, and both leave in one write.
    this.#exchange.response.flush();
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
      this.connection = null;
      this.#send('sendAgain');
    } else {
      noteUpstreamFailure(this.#exchange, error, this.#route, this.takenAt > 0);
      this.#fail(error.asRefusal(), 'upstream_aborted');
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

  // Early ends.

  /** Drops an upstream's response whose head can't be written to the client, and refuses the request. */
  #giveUp(error: unknown): void {
    this.#abandon();
    this.#finish();
    this.#options.refuse(this.#exchange, error);
  }

  /** Refuses the request, or resets the connection if the response has begun: a truncated response must not look complete. */
  #fail(error: unknown, outcome: string): void {
    this.#finish();
    if (this.#exchange.response.begun) this.#exchange.reset(outcome);
    else this.#options.refuse(this.#exchange, error);
  }

  /** Ends the request on both sides, because its credential has ended or has lost a scope. */
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

  /** Called when the client has disconnected or the response has been sent. */
  onClose(): void {
    if (this.#over) return;
    this.#finish();
    // A tunnel still delivers what its client sent before it disconnected.
    if (this.#tunnel === null) this.#abandon();
  }

  /** Closes the upstream connection, whose place in the pool is free at once; if there is none yet, leaves the queue. */
  #abandon(): void {
    if (this.connection === null) this.#route.upstream.forget(this);
    else this.connection.destroy();
  }

  #finish(): void {
    this.#over = true;
    this.#exchange.takenAt = this.takenAt;
    if (this.#body !== null) {
      // The time a body was held back counts as the client's, not as ours.
      if (this.takenAt > 0) this.#exchange.takenAt -= this.#body.heldMs;
      this.#body.drop();
      this.#route.upstream.forget(this);
    }
    this.#options.streams.remove(this);
  }
}
