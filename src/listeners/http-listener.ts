import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { DecisionMode } from '../config/sections/forward-auth.ts';
import type { Config } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import type { CurrentGateway } from '../gateway/current-gateway.ts';
import { readBegunRequest } from '../http/begun-request.ts';
import type { CreateExchange, Exchange, RefusedRequest } from '../http/exchange.ts';
import { type RefusalShape, unreadableRequestResponse } from '../http/reply.ts';
import { readRequestHead } from '../http/request-head.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import { Http1Server, type ServerLimits, type ServerOptions } from '../http1/server/server.ts';
import { createTargetLimits, type LongTargets, type TargetLimits } from '../http1/server/target-limits.ts';
import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type FinishedParts, recordExchange, recordUnreadable } from './finished-exchange.ts';
import { traceExchange } from './request-spans.ts';

/** The reason why a connection was closed at once: too many are open, in all or from its address. */
export type ConnectionRefusal = 'limit' | 'address';

/** Dependencies of all listeners. */
export interface ListenerParts extends FinishedParts {
  readonly engine: Engine;
  readonly current: CurrentGateway;
  /** Called when a connection is closed before its first byte is read. */
  readonly onConnectionRefused: (why: ConnectionRefusal) => void;
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
  readonly tracing: Tracing | null;
}

/** Settings of a listener that may change while it runs; durations in milliseconds. */
export interface ListenerSettings {
  readonly limits: ServerLimits & { readonly targetBytes: number; readonly headerCount: number };
  readonly longTargets: LongTargets;
  /** Further headers of the responses to bytes that never become an exchange, names and values in turn. */
  readonly unreadableFields: readonly string[];
}

/** The behaviour in which listeners differ. */
export interface ListenerRole {
  /** Mode of the proxies that ask; empty for the public listener. */
  readonly decidesFor: DecisionMode | '';
  /** Applies a configuration from now on; returns the settings of the listener. */
  adopt(config: Config): ListenerSettings;
  /** True if a new connection is accepted; called before TLS, and not for connections beyond `limits.connections`. */
  admits(socket: Socket): boolean;
  readonly createExchange: CreateExchange;
  /** Shape of the refusals of bytes that never become an exchange. */
  readonly refusalShape: RefusalShape;
  /** Handles the exchange, or refuses it if `refusal` isn't null; never throws. */
  respond(exchange: Exchange, refusal: Refusal | null): void;
  /** Returns the response, as latin1 text, to unreadable bytes that begin like a request; null: no special response. */
  readonly refuseBegun: ((request: RefusedRequest, refusal: Refusal) => string) | null;
}

/** A listener for HTTP/1.1, which survives reloads. It checks the limits that the engine doesn't, before anything else. */
export class HttpListener {
  readonly server: Http1Server<Exchange>;
  readonly #role: ListenerRole;
  readonly #parts: Omit<ListenerParts, 'current'>;
  readonly #realm: string;
  #settings: ListenerSettings;
  #targets: TargetLimits;

  /** Creates the listener; `tls`: null for plain HTTP. */
  constructor(
    config: Config,
    tls: ListenerTls | null,
    role: ListenerRole,
    parts: Omit<ListenerParts, 'current'>,
  ) {
    this.#role = role;
    this.#parts = parts;
    this.#realm = config.tenant;
    this.#settings = role.adopt(config);
    this.#targets = targetLimits(this.#settings);
    this.server = new Http1Server(this.#serverOptions(tls), parts.engine.createListener);
  }

  /** Switches to another configuration and its TLS settings: timeouts apply at once, most others to new connections. */
  apply(config: Config, tls: ListenerTls | null): void {
    if (tls !== null) this.server.renewTls(tls);
    this.#settings = this.#role.adopt(config);
    this.#targets = targetLimits(this.#settings);
    this.server.apply({ limits: this.#settings.limits, targets: this.#targets });
  }

  #serverOptions(tls: ListenerTls | null): ServerOptions<Exchange> {
    const role = this.#role;
    const { onConnectionRefused, onHandshakeFailed } = this.#parts;
    return {
      limits: this.#settings.limits,
      targets: this.#targets,
      tls,
      admits: (socket) => role.admits(socket),
      onDropped: () => onConnectionRefused('limit'),
      createExchange: (channel, response, text, framing) => {
        const mayBeWebSocket = text.minor === 1 && text.method === 'GET';
        const head = readRequestHead(text.fields, framing, mayBeWebSocket);
        return role.createExchange(channel, response, head, text);
      },
      onRequest: (exchange) => this.#respond(exchange),
      onUnreadable: (refusal, peer, received) => {
        const requestId = randomUUID();
        recordUnreadable(refusal, peer, requestId, role.decidesFor, this.#parts);
        const begun = role.refuseBegun === null ? null : readBegunRequest(received, requestId);
        if (begun !== null) return role.refuseBegun!(begun, refusal);
        const { unreadableFields } = this.#settings;
        return unreadableRequestResponse(
          refusal,
          this.#realm,
          requestId,
          role.refusalShape,
          unreadableFields,
        );
      },
      onClosed: (exchange) => recordExchange(exchange, role.decidesFor, this.#parts),
      onHandshakeFailed,
    };
  }

  #respond(exchange: Exchange): void {
    const { tracing } = this.#parts;
    const refusal = this.#refusalOf(exchange);
    if (tracing === null) this.#role.respond(exchange, refusal);
    else traceExchange(tracing, exchange, () => this.#role.respond(exchange, refusal));
  }

  #refusalOf({ unfit, head, method, path, target }: Exchange): Refusal | null {
    if (unfit !== null) return unfit;
    if (head.raw.length > 2 * this.#settings.limits.headerCount)
      return new Refusal('headers_too_large', { close: true, reason: 'too many headers' });
    return this.#targets.isTooLong(method, path, target.length)
      ? new Refusal('target_too_long', { close: true })
      : null;
  }
}

function targetLimits({ limits, longTargets }: ListenerSettings): TargetLimits {
  return createTargetLimits(limits.targetBytes, longTargets);
}

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
type EngineName<Name extends string> = Name extends `${infer Timeout}_timeout`
  ? `${CamelCase<Timeout>}TimeoutMs`
  : CamelCase<Name>;
type EngineLimits = { readonly [Name in keyof Config['limits'] as EngineName<Name>]: number };

/** Time after which the rate of a body is checked, ms: an average over the first seconds says little. */
const bodyJudgedAfterMs = 30_000;

/** The limits of a listener under the engine's names for them, such as `headerTimeoutMs` for `header_timeout`. */
export function listenerLimits(limits: Config['limits']): ListenerSettings['limits'] {
  const byEngineName = Object.entries(limits).map(([name, limit]) => [engineName(name), limit]);
  return { ...(Object.fromEntries(byEngineName) as EngineLimits), bodyJudgedAfterMs };
}

function engineName(name: string): string {
  const camelCase = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return camelCase.replace(/Timeout$/, 'TimeoutMs');
}
