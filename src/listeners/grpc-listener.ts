import type { Socket } from 'node:net';
import type { Config } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { CheckAnswer } from '../forward-auth/check-answer.ts';
import type { CheckRequest, CheckResponse } from '../forward-auth/check-protocol.ts';
import { CheckServer } from '../forward-auth/check-server.ts';
import { type CheckedRequest, readChecked } from '../forward-auth/checked-request.ts';
import { describedAddress } from '../http/client-address.ts';
import { Exchange } from '../http/exchange.ts';
import { readRequestHead } from '../http/request-head.ts';
import type { RequestChannel } from '../http1/server/connection-options.ts';
import { canonicalAddress } from '../http1/server/peer-address.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { AskingProxies } from './asking-proxies.ts';
import { recordExchange } from './finished-exchange.ts';
import type { ListenerParts } from './http-listener.ts';
import { traceExchange } from './request-spans.ts';

/** Delay before a peer that may not ask is disconnected, ms: long enough for it to read the refusal. */
const farewellMs = 100;

/** A listener of `forward_auth` whose mode is `envoy_grpc`. */
export class GrpcListener {
  readonly server: CheckServer;
  readonly #proxies: AskingProxies;
  readonly #parts: ListenerParts;
  readonly #encrypted: boolean;
  #limits: Config['limits'];

  /** Creates the listener; `tls`: null for h2c. */
  constructor(config: Config, proxies: AskingProxies, tls: ListenerTls | null, parts: ListenerParts) {
    this.#proxies = proxies;
    this.#parts = parts;
    this.#encrypted = tls !== null;
    this.#limits = config.limits;
    this.server = new CheckServer({
      tls,
      handshakeTimeoutMs: config.limits.header_timeout,
      admits: (socket) => proxies.admission.admits(socket),
      onHandshakeFailed: parts.onHandshakeFailed,
      createChannel: (socket, clientCertificate) => this.#createChannel(socket, clientCertificate),
      mayAsk: ({ peer }) => proxies.mayAsk(peer),
      onQuestion: (question, channel, respond) => this.#judge(question, channel, respond),
    });
  }

  /** Switches to another configuration; `tls`: its settings for TLS, null for h2c. */
  apply(config: Config, tls: ListenerTls | null): void {
    if (tls !== null) this.server.renewTls(tls);
    this.#limits = config.limits;
  }

  #judge(question: CheckRequest, channel: RequestChannel, respond: (response: CheckResponse) => void): void {
    const { current, tracing } = this.#parts;
    const exchange = this.#exchangeOf(question, channel, respond);
    const decide = () => current.gateway.decide(exchange, this.#proxies.index, exchange.unfit);
    if (tracing === null) decide();
    else traceExchange(tracing, exchange, decide);
  }

  #exchangeOf(
    question: CheckRequest,
    channel: RequestChannel,
    respond: (response: CheckResponse) => void,
  ): Exchange {
    const { ours, describeHosts } = this.#proxies.askers;
    const checked = readChecked(question, describeHosts);
    const head = readRequestHead(checked.fields);
    const answer = new CheckAnswer(respond);
    const text = { method: checked.method, target: checked.target, minor: 1 };
    if (!this.#proxies.mayAsk(channel.peer)) {
      setTimeout(() => channel.reset(), farewellMs).unref();
      const unknown = new Refusal('address_not_allowed');
      return new Exchange(channel, answer, head, text, channel.peer, false, unknown);
    }
    const hops = [head.forwardedFor, checked.source].filter((hop) => hop !== '');
    const address = describedAddress(hops.join(', '), ours);
    const unfit = checked.unfit ?? this.#beyondLimits(checked);
    const host = describeHosts && unfit === null ? checked.host : null;
    return new Exchange(channel, answer, head, text, address, true, unfit, host);
  }

  /** The refusal of a head beyond the limits, or null. As in HTTP/1.1, its size includes four bytes of separators per field. */
  #beyondLimits({ target, fields }: CheckedRequest): Refusal | null {
    const { target_bytes, header_bytes, header_count } = this.#limits;
    const bytes = fields.reduce((sum, text) => sum + text.length + 2, target.length);
    if (bytes > header_bytes) return new Refusal('headers_too_large', { reason: 'head too large' });
    if (fields.length > 2 * header_count)
      return new Refusal('headers_too_large', { reason: 'too many headers' });
    return target.length > target_bytes ? new Refusal('target_too_long') : null;
  }

  /** Creates the channel of a connection's questions; they have no body, so there is nothing to read, pause or wait for. */
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
      finished: (exchange) => recordExchange(exchange as Exchange, 'envoy_grpc', this.#parts),
      detach: () => ({ socket, bytes: Buffer.alloc(0) }),
      reset: () => socket.destroy(),
    };
  }
}
