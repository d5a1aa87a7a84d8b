import type { Authenticate } from '../authenticate/authenticate.ts';
import type { AuthenticateBrowser } from '../authenticate/authenticate-browser.ts';
import type { HeldNow, Principal } from '../credentials/principal.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import type { ServeEndpoint } from '../endpoints/serve-endpoint.ts';
import { Refusal } from '../errors.ts';
import { type Cors, isPreflight } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Replies } from '../http/reply.ts';
import { assertDeclaredSize } from '../http/request-body.ts';
import { assertKnownExpectation, assertMethodIsServed, assertUnambiguousHead } from '../http/request-head.ts';
import { assertUnambiguousTarget, type TargetRules } from '../http/request-target.ts';
import type { Log } from '../log/log.ts';
import { authorise } from '../proxy/authorise.ts';
import type { Forward } from '../proxy/forward.ts';
import type { Route } from '../proxy/route-table.ts';
import type { SessionTimes } from '../stores/sessions.ts';
import type { BackgroundSettings } from './background-work.ts';
import type { OwnEndpoints } from './endpoints.ts';
import type { WatchedGateway } from './metrics.ts';
import type { ComposedRoutes } from './routes.ts';

/** The parts of the request path, built from one configuration. */
export interface GatewayParts {
  readonly targetRules: TargetRules;
  readonly cors: Cors;
  readonly own: OwnEndpoints;
  readonly serveEndpoint: ServeEndpoint;
  readonly routes: ComposedRoutes;
  readonly authenticate: Authenticate;
  /** As `authenticate`, on routes for browsers. */
  readonly authenticateBrowser: AuthenticateBrowser;
  /** Refuses a service worker that could read what is typed on Postern's own pages; null: there are none. */
  readonly assertNoServiceWorker: ((exchange: Exchange) => void) | null;
  /** Recognises the host that only the console has, where nothing is forwarded; null: there is none. */
  readonly isConsoleHost: ((host: string) => boolean) | null;
  readonly forward: Forward;
  readonly replies: Replies;
  readonly heldNow: HeldNow;
  /** Sessions of which a token that has not expired was seen. */
  readonly activeSessions: () => number;
  /** What goes on beside the requests reads of the configuration. */
  readonly settings: BackgroundSettings;
  readonly sessionTimes: SessionTimes;
  readonly log: Pick<Log, 'error'>;
}

/** Everything built from one configuration: responds to every exchange it is given, or forwards it. */
export class Gateway implements WatchedGateway {
  readonly upstreams: WatchedGateway['upstreams'];
  readonly heldNow: HeldNow;
  readonly activeSessions: () => number;
  readonly settings: BackgroundSettings;
  readonly sessionTimes: SessionTimes;
  readonly #parts: GatewayParts;
  /** Exchanges that are not over yet. */
  #open = 0;
  #isRetired = false;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.upstreams = parts.routes.upstreams;
    this.heldNow = parts.heldNow;
    this.activeSessions = parts.activeSessions;
    this.settings = parts.settings;
    this.sessionTimes = parts.sessionTimes;
  }

  passwordHashes(): WorkLoad {
    return this.#parts.own.passwordHashes();
  }

  /**
   * Own path? Guard, then respond. Otherwise: refuse what is ambiguous, route, authenticate, authorise, forward. Never
   * throws.
   */
  handle(exchange: Exchange): void {
    const { targetRules, cors, own, serveEndpoint, isConsoleHost, replies } = this.#parts;
    this.#open += 1;
    exchange.onOver = this.#onOver;
    try {
      assertUnambiguousHead(exchange.head, exchange.minor);
      assertMethodIsServed(exchange.method);
      assertKnownExpectation(exchange.head, exchange.minor);
      assertUnambiguousTarget(exchange.target, exchange.pathEnd, targetRules);
      exchange.targetIsGood = true;
      const preflight = isPreflight(exchange.method, exchange.head);
      const match = own.routes.find(exchange.path);
      if (match === undefined && isConsoleHost?.(exchange.head.host)) throw new Refusal('not_found');
      if (preflight && (cors.enabled || match !== undefined)) this.#respondToPreflight(exchange);
      else if (match !== undefined) void serveEndpoint(exchange, match);
      else this.#passOn(exchange, preflight);
    } catch (error) {
      replies.refuse(exchange, error);
    }
  }

  /** Refuses what the listener has judged before anything else sees it. */
  refuse(exchange: Exchange, error: unknown): void {
    this.#parts.replies.refuse(exchange, error);
  }

  #respondToPreflight(exchange: Exchange): void {
    const { cors, replies } = this.#parts;
    replies.send(exchange, { status: 204, headers: cors.preflightHeaders(exchange.head) });
  }

  #passOn(exchange: Exchange, preflight: boolean): void {
    const { routes, authenticate, authenticateBrowser, forward, replies } = this.#parts;
    const route = routes.table.find(exchange.path);
    exchange.route = route.label;
    exchange.isOnBrowserRoute = route.isForBrowsers;
    this.#parts.assertNoServiceWorker?.(exchange);
    if (preflight && route.passesPreflights) {
      forward(exchange, route, null, true);
      return;
    }
    const principal = route.isForBrowsers
      ? authenticateBrowser(exchange, route.isPublic)
      : authenticate(exchange.head, route.isPublic);
    if (principal instanceof Promise)
      principal
        .then((found) => this.#admit(exchange, route, found))
        .catch((error) => replies.refuse(exchange, error));
    else this.#admit(exchange, route, principal);
  }

  #admit(exchange: Exchange, route: Route, principal: Principal | null): void {
    exchange.caller = principal;
    authorise(route, exchange.method, principal);
    assertDeclaredSize(exchange, route.maxBodyBytes);
    this.#parts.forward(exchange, route, principal);
  }

  readonly #onOver = (): void => {
    this.#open -= 1;
    if (this.#isRetired && this.#open === 0) this.#closeRetired();
  };

  /** It is given no more exchanges: closes what it has open after the last of them. */
  retire(): void {
    this.#isRetired = true;
    this.#parts.routes.retire();
    if (this.#open === 0) this.#closeRetired();
  }

  #closeRetired(): void {
    this.close().catch((error) =>
      this.#parts.log.error('closing the previous configuration failed', { err: error }),
    );
  }

  /** Closes what it has open, at once. */
  async close(): Promise<void> {
    await this.#parts.own.close();
    await this.#parts.routes.close();
  }
}
