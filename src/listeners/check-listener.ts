import type { AddressInfo, Socket } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { Admission } from '../forward-auth/admission.ts';
import { CheckAnswer } from '../forward-auth/check-answer.ts';
import type { CheckRequest, CheckResponse } from '../forward-auth/check-protocol.ts';
import { CheckServer } from '../forward-auth/check-server.ts';
import { type CheckedRequest, readChecked } from '../forward-auth/checked-request.ts';
import { type Askers, askersOf } from '../forward-auth/question.ts';
import { describedAddress } from '../http/client-address.ts';
import { Exchange } from '../http/exchange.ts';
import { readRequestHead } from '../http/request-head.ts';
import type { RequestChannel } from '../http1/server/connection-options.ts';
import { canonicalAddress } from '../http1/server/peer-address.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { DecisionListenerParts, OneDecisionListener } from './decision-listener.ts';
import { recordDecided } from './finished-exchange.ts';
import { traceExchange } from './request-spans.ts';

/** How long a peer that may not ask has for reading why, ms. */
const farewellMs = 100;

/** A listener of `forward_auth` whose mode is `envoy_grpc`; `index` is its position there. */
export class CheckListener implements OneDecisionListener {
  readonly #index: number;
  readonly #parts: DecisionListenerParts;
  readonly #server: CheckServer;
  readonly #encrypted: boolean;
  readonly #admission: Admission;
  #askers: Askers;
  #limits: Config['limits'];

  /** `tls`: null for h2c. */
  constructor(config: Config, index: number, tls: ListenerTls | null, parts: DecisionListenerParts) {
    this.#index = index;
    this.#parts = parts;
    this.#encrypted = tls !== null;
    this.#askers = askersOf(config.forward_auth[index]!, config);
    this.#limits = config.limits;
    this.#admission = new Admission({
      isProxy: (address) => this.#askers.proxies.isTrusted(address),
      mostConnections: () => this.#limits.connections,
      hasRoom: parts.hasRoom,
      onRefused: () => parts.onConnectionRefused('limit'),
      strangers: parts.strangers,
    });
    this.#server = new CheckServer({
      tls,
      handshakeTimeoutMs: config.limits.header_timeout,
      admits: (socket) => this.#admission.admits(socket),
      onHandshakeFailed: parts.onHandshakeFailed,
      createChannel: (socket, clientCertificate) => this.#createChannel(socket, clientCertificate),
      mayAsk: (channel) => this.#mayAsk(channel),
      onQuestion: (question, channel, respond) => this.#judge(question, channel, respond),
    });
  }

  get sockets(): number {
    return this.#admission.connections;
  }

  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo> {
    return this.#server.listen(host, port, isShared);
  }

  apply(config: Config, tls: ListenerTls | null): void {
    if (tls !== null) this.#server.renewTls(tls);
    this.#askers = askersOf(config.forward_auth[this.#index]!, config);
    this.#limits = config.limits;
    this.#admission.peersChanged();
  }

  renewTls(tls: ListenerTls): void {
    this.#server.renewTls(tls);
  }

  /** Connections are told at the drain: HTTP/2 has no `Connection: close`. */
  announceClose(): void {}

  drain(timeoutMs: number): Promise<void> {
    return this.#server.drain(timeoutMs);
  }

  #mayAsk({ peer }: RequestChannel): boolean {
    return this.#askers.proxies.isTrusted(peer);
  }

  #judge(question: CheckRequest, channel: RequestChannel, respond: (response: CheckResponse) => void): void {
    const { current, tracing } = this.#parts;
    const exchange = this.#exchangeOf(question, channel, respond);
    const decide = () => {
      if (exchange.unfit === null) current.decide(exchange, this.#index);
      else current.refuse(exchange, exchange.unfit, this.#index);
    };
    if (tracing === null) decide();
    else traceExchange(tracing, exchange, decide);
  }

  #exchangeOf(
    question: CheckRequest,
    channel: RequestChannel,
    respond: (response: CheckResponse) => void,
  ): Exchange {
    const checked = readChecked(question);
    const head = readRequestHead(checked.fields);
    const answer = new CheckAnswer(respond);
    const text = { method: checked.method, target: checked.target, minor: 1 };
    if (!this.#mayAsk(channel)) {
      setTimeout(() => channel.reset(), farewellMs).unref();
      const unknown = new Refusal('address_not_allowed');
      return new Exchange(channel, answer, head, text, channel.peer, false, unknown);
    }
    const hops = [head.forwardedFor, checked.source].filter((hop) => hop !== '');
    const address = describedAddress(hops.join(', '), this.#askers.ours);
    const unfit = checked.unfit ?? this.#beyondLimits(checked);
    return new Exchange(channel, answer, head, text, address, true, unfit);
  }

  /** As HTTP/1.1 counts: a name, a value, and four bytes between and after them. */
  #beyondLimits({ target, fields }: CheckedRequest): Refusal | null {
    const { target_bytes, header_bytes, header_count } = this.#limits;
    const bytes = fields.reduce((sum, text) => sum + text.length + 2, target.length);
    if (bytes > header_bytes) return new Refusal('headers_too_large', { reason: 'head too large' });
    if (fields.length > 2 * header_count)
      return new Refusal('headers_too_large', { reason: 'too many headers' });
    return target.length > target_bytes ? new Refusal('target_too_long') : null;
  }

  /** There is no body, and nothing of the connection that one question could change. */
  #createChannel(socket: Socket, clientCertificate: string | null): RequestChannel {
    const unused = () => {};
    return {
      socket,
      peer: canonicalAddress(socket.remoteAddress ?? ''),
      encrypted: this.#encrypted,
      clientCertificate,
      bodyDone: true,
      read: unused,
      pause: unused,
      resume: unused,
      release: unused,
      waitForDrain: unused,
      finished: (exchange) => recordDecided(exchange as Exchange, 'envoy_grpc', this.#parts),
      detach: () => ({ socket, bytes: Buffer.alloc(0) }),
      reset: () => socket.destroy(),
    };
  }
}
