import type { JSONWebKeySet } from 'jose';
import type { Authenticate } from '../authenticate/authenticate.ts';
import type { Config } from '../config/sections/schema.ts';
import type { HeldNow } from '../credentials/principal.ts';
import type { ServeEndpoint } from '../endpoints/serve-endpoint.ts';
import { Refusal } from '../errors.ts';
import { undescribed } from '../forward-auth/question.ts';
import type { Cors } from '../http/cors.ts';
import type { Exchange, RefusedRequest } from '../http/exchange.ts';
import { unreadableHost } from '../http/named-hosts.ts';
import type { Replies } from '../http/reply.ts';
import { assertDeclaredSize } from '../http/request-body.ts';
import type { Log } from '../log/log.ts';
import type { Forward } from '../proxy/forward-options.ts';
import { isForwarding } from '../proxy/route-table.ts';
import type { WatchedGateway } from '../runtime/metrics.ts';
import type { OwnEndpoints } from './endpoints.ts';
import type { DecisionListener } from './forward-auth.ts';
import {
  createJudge,
  type HostPaths,
  type Judge,
  type JudgeParts,
  type ListenerRules,
  type Verdict,
} from './judge.ts';
import { type BrowserCookieNames, reasonOfWebCookie } from './missing-credential.ts';
import type { ComposedRoutes } from './routes.ts';

/** The parts of the request path, built from one configuration. */
export interface GatewayParts {
  readonly judging: JudgeParts;
  readonly cors: Cors;
  readonly own: OwnEndpoints;
  readonly serveEndpoint: ServeEndpoint;
  readonly routes: ComposedRoutes;
  readonly authenticate: Authenticate;
  /** On browser routes. */
  readonly authenticateBrowser: Authenticate;
  /** Null without `web`. */
  readonly browserCookieNames: BrowserCookieNames | null;
  readonly forward: Forward;
  readonly replies: Replies;
  /** The listeners for decisions, in the order of `forward_auth`. */
  readonly decisions: readonly DecisionListener[];
  readonly heldNow: HeldNow;
  readonly assertionKeys: () => Promise<JSONWebKeySet>;
  readonly config: Config;
  readonly watched: WatchedGateway;
  readonly via: string;
  /** The {@link ListenerRules.assertHost} of the public listener. */
  readonly assertHost: ListenerRules['assertHost'];
  readonly log: Pick<Log, 'error'>;
}

/** The gateway of one configuration: responds to every exchange, or forwards it. */
export class Gateway {
  readonly parts: GatewayParts;
  readonly #judge: Judge;
  /** Judges of the listeners for decisions, in the order of `forward_auth`. */
  readonly #decisionJudges: readonly Judge[];
  #open = 0;
  #isRetired = false;

  constructor(parts: GatewayParts) {
    this.parts = parts;
    this.#judge = createJudge(parts.judging, publicRules(parts));
    this.#decisionJudges = parts.decisions.map(({ rules }) => createJudge(parts.judging, rules));
  }

  /** Judges an exchange, then responds or forwards it; never throws. `unfit`: the listener's refusal, or null. */
  handle(exchange: Exchange, unfit: Refusal | null): void {
    this.#begin(exchange);
    try {
      if (unfit !== null) throw unfit;
      const verdict = this.#judge(exchange);
      if (verdict instanceof Promise)
        verdict.then((found) => this.#serve(exchange, found)).catch((error) => this.#refuse(exchange, error));
      else this.#serve(exchange, verdict);
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  #serve(exchange: Exchange, verdict: Verdict): void {
    const { serveEndpoint, replies, cors, forward } = this.parts;
    switch (verdict.kind) {
      case 'own':
        void serveEndpoint(exchange, verdict.match);
        return;
      case 'preflight':
        replies.send(exchange, { status: 204, headers: cors.preflightHeaders(exchange) });
        return;
      case 'pass': {
        const { route, principal, asPreflight } = verdict;
        if (!isForwarding(route)) throw new TypeError('no request passes to a route without an upstream');
        if (!asPreflight) assertDeclaredSize(exchange, route.maxBodyBytes);
        forward(exchange, route, principal, asPreflight);
      }
    }
  }

  /** Judges as {@link handle} does, and answers the proxy that asked; `listener`: index of its listener in `forward_auth`. */
  decide(exchange: Exchange, listener: number, unfit: Refusal | null): void {
    this.#begin(exchange);
    const asked = this.parts.decisions[listener]!;
    try {
      if (unfit !== null) throw unfit;
      // It was read under the configuration of before.
      if (asked.readsHost && exchange.describedHost === null) throw undescribed();
      asked.decision.assertPassable(exchange);
      const verdict = this.#decisionJudges[listener]!(exchange);
      if (verdict instanceof Promise)
        verdict
          .then((found) => answer(exchange, found, asked.decision))
          .catch((error) => this.#refuseDecision(exchange, error, asked));
      else answer(exchange, verdict, asked.decision);
    } catch (error) {
      this.#refuseDecision(exchange, error, asked);
    }
  }

  #refuseDecision(exchange: Exchange, error: unknown, { decision, rules }: DecisionListener): void {
    const { servesBrowsers } = rules;
    if (servesBrowsers !== null && exchange.unfit === null) {
      if (exchange.route === '') this.#noteRoute(exchange);
      if (!servesBrowsers(exchange)) exchange.isOnBrowserRoute = false;
      else if (exchange.route !== '' && exchange.reason === '')
        exchange.reason = reasonOfWebCookie(exchange, error, this.parts.browserCookieNames);
    }
    decision.refuse(exchange, error);
  }

  #refuse(exchange: Exchange, error: unknown): void {
    // The request was refused before it had a route.
    if (exchange.route === '') {
      this.#noteRoute(exchange);
      this.parts.own.onRefused?.(exchange);
    } else if (exchange.reason === '')
      exchange.reason = reasonOfWebCookie(exchange, error, this.parts.browserCookieNames);
    this.parts.replies.refuse(exchange, error);
  }

  /** The response, as latin1 text, to bytes that begin like a request but aren't one. */
  refuseBegun(request: RefusedRequest, refusal: Refusal): string {
    const { own, replies } = this.parts;
    this.#noteRoute(request);
    own.onRefused?.(request);
    return replies.refuseBegun(request, refusal);
  }

  /** Notes, of a request that is refused before it has a route, what the route of its path as spelled says, however malformed. */
  #noteRoute(request: RefusedRequest): void {
    const { path } = request;
    const { routes, own } = this.#pathsOfRefused(request);
    const route = routes.spelled(path);
    if (route === undefined || own.find(path) !== undefined) return;
    if (this.parts.judging.isConsoleHost?.(request.host) === true) return;
    request.isOnBrowserRoute = this.parts.config.web !== undefined && route.isForBrowsers;
    request.leavesCors = route.leavesCors;
  }

  /** The paths of the host of a refused request, which is noted; a host that can't be read has none. */
  #pathsOfRefused(request: RefusedRequest): HostPaths {
    const { judging } = this.parts;
    if (judging.hosts === null) return judging;
    request.namedHost = unreadableHost;
    try {
      if (request.describedHost === null && request.head.hostCount === 0)
        return judging.hosts.pathsOf(unreadableHost);
      const { text, named } = judging.hosts.find(request);
      request.host = text;
      request.namedHost = named;
      return named === null ? judging : judging.hosts.pathsOf(named);
    } catch {
      return judging.hosts.pathsOf(unreadableHost);
    }
  }

  #begin(exchange: Exchange): void {
    this.#open += 1;
    exchange.onOver = this.#onOver;
  }

  readonly #onOver = (): void => {
    this.#open -= 1;
    if (this.#isRetired && this.#open === 0) this.#closeRetired();
  };

  /** Closes the gateway after its last exchange; called once it gets no new exchanges. */
  retire(): void {
    this.#isRetired = true;
    if (this.#open === 0) this.#closeRetired();
  }

  #closeRetired(): void {
    this.close().catch((error) =>
      this.parts.log.error('connections of the previous configuration could not be closed after a reload', {
        err: error,
      }),
    );
  }

  async close(): Promise<void> {
    await this.parts.own.close();
    await this.parts.routes.close();
  }
}

const everywhere = () => true;

function publicRules({ assertHost, via, authenticate, authenticateBrowser }: GatewayParts): ListenerRules {
  return {
    assertHost,
    assertKnownHost: null,
    answersPreflights: true,
    servesBrowsers: everywhere,
    via,
    authenticate: (exchange, route) =>
      route.isForBrowsers ? authenticateBrowser(exchange, route) : authenticate(exchange, route),
  };
}

/** Answers the proxy that asked; throws `not_found` for Postern's own paths, which no proxy may pass on to a service. */
function answer(exchange: Exchange, verdict: Verdict, decision: DecisionListener['decision']): void {
  if (verdict.kind !== 'pass') throw new Refusal('not_found');
  decision.allow(exchange, verdict.route, verdict.principal, verdict.asPreflight);
}
