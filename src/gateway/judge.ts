import type { Principal } from '../credentials/principal.ts';
import type { OwnMatch, OwnRoutes } from '../endpoints/routes.ts';
import { Refusal } from '../errors.ts';
import { type Cors, isPreflight } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import {
  assertKnownExpectation,
  assertMethodIsServed,
  assertUnambiguousHead,
  type RequestHead,
} from '../http/request-head.ts';
import { assertUnambiguousTarget, type TargetRules } from '../http/request-target.ts';
import { authorise } from '../proxy/authorise.ts';
import type { Route, RouteTable } from '../proxy/route-table.ts';
import type { Awaitable } from '../stores/awaitable.ts';

/** A request as far as it is judged, and what the log says of it. */
export type JudgedRequest = Pick<
  Exchange,
  'head' | 'minor' | 'method' | 'target' | 'pathEnd' | 'path' | 'targetIsGood' | 'route' | 'caller'
>;

/** What one kind of listener does with the requests that are judged for it. Whatever these throw refuses the request. */
export interface Listener<Request extends JudgedRequest> {
  /** Refuses a `Host` that isn't this listener's; null: any host is accepted. */
  readonly assertHost: ((head: RequestHead) => void) | null;
  /** It has a route, which is about to be judged. Throws `not_found` where the route is not for this listener. */
  routed(request: Request, route: Route): void;
  /** Who is calling, as `Authenticate` says. */
  authenticate(request: Request, route: Route): Awaitable<Principal | null>;
  /** The path is Postern's own. */
  own(request: Request, match: OwnMatch): void;
  /** A preflight that Postern itself responds to; null: here none is. */
  readonly preflight: ((request: Request) => void) | null;
  /** It may pass. `asPreflight`: unauthenticated, for the upstream to respond to. */
  admit(request: Request, route: Route, principal: Principal | null, asPreflight: boolean): void;
  refuse(request: Request, error: unknown): void;
}

/** What requests are judged by. */
export interface JudgeParts {
  readonly targetRules: TargetRules;
  readonly cors: Pick<Cors, 'enabled'>;
  readonly own: OwnRoutes;
  /** Recognises the host that only the console has, where nothing is forwarded; null: there is none. */
  readonly isConsoleHost: ((host: string) => boolean) | null;
  readonly routes: RouteTable;
  /** Refuses a service worker that could read what is typed on Postern's own pages; null: there are none. */
  readonly assertNoServiceWorker: ((request: JudgedRequest) => void) | null;
}

/**
 * Decides about a request: refuse what is ambiguous; own path? else route, authenticate, authorise. Tells the listener,
 * exactly once; never throws.
 */
export type Judge = <Request extends JudgedRequest>(request: Request, listener: Listener<Request>) => void;

/** Creates the only reader of the rules about requests, on whichever listener they arrive. */
export function createJudge(parts: JudgeParts): Judge {
  const { targetRules, cors, own, isConsoleHost, routes, assertNoServiceWorker } = parts;

  function pass<Request extends JudgedRequest>(
    request: Request,
    preflight: boolean,
    listener: Listener<Request>,
  ): void {
    const route = routes.find(request.path);
    request.route = route.label;
    listener.routed(request, route);
    assertNoServiceWorker?.(request);
    if (preflight && route.passesPreflights) {
      listener.admit(request, route, null, true);
      return;
    }
    const principal = listener.authenticate(request, route);
    if (principal instanceof Promise)
      principal
        .then((found) => admit(request, route, found, listener))
        .catch((error) => listener.refuse(request, error));
    else admit(request, route, principal, listener);
  }

  function admit<Request extends JudgedRequest>(
    request: Request,
    route: Route,
    principal: Principal | null,
    listener: Listener<Request>,
  ): void {
    request.caller = principal;
    authorise(route, request.method, principal);
    listener.admit(request, route, principal, false);
  }

  return (request, listener) => {
    try {
      assertUnambiguousHead(request.head, request.minor);
      listener.assertHost?.(request.head);
      assertMethodIsServed(request.method);
      assertKnownExpectation(request.head, request.minor);
      assertUnambiguousTarget(request.target, request.pathEnd, targetRules);
      request.targetIsGood = true;
      const preflight = isPreflight(request.method, request.head);
      const match = own.find(request.path);
      if (match === undefined && isConsoleHost?.(request.head.host)) throw new Refusal('not_found');
      if (preflight && listener.preflight !== null && (cors.enabled || match !== undefined))
        listener.preflight(request);
      else if (match !== undefined) listener.own(request, match);
      else pass(request, preflight, listener);
    } catch (error) {
      listener.refuse(request, error);
    }
  };
}
