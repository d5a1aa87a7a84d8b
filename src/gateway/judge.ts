import type { Principal } from '../credentials/principal.ts';
import type { OwnMatch, OwnRoutes } from '../endpoints/routes.ts';
import { Refusal } from '../errors.ts';
import { type Cors, isPreflight } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { CalledHost, FindHost, NamedHost } from '../http/named-hosts.ts';
import {
  assertKnownExpectation,
  assertMethodIsServed,
  assertNoLoop,
  assertUnambiguousHead,
  type RequestHead,
} from '../http/request-head.ts';
import { assertUnambiguousTarget, requireReadings } from '../http/request-target.ts';
import { authorise } from '../proxy/authorise.ts';
import { isForwarding, type Route, type RouteTable } from '../proxy/route-table.ts';
import { nothingPasses } from '../rules/passed-spellings.ts';
import type { Awaitable } from '../stores/awaitable.ts';

/**
 * Judgement of a request that isn't refused. `own`: its path is one of Postern's; `preflight`: Postern responds to it as a CORS
 * preflight; `pass`: it may pass to its route. `asPreflight`: it is a preflight for the upstream, and not authenticated.
 */
export type Verdict =
  | { readonly kind: 'own'; readonly match: OwnMatch }
  | { readonly kind: 'preflight' }
  | {
      readonly kind: 'pass';
      readonly route: Route;
      readonly principal: Principal | null;
      readonly asPreflight: boolean;
    };

/** The paths of a host: Postern's own, and those of routes. */
export interface HostPaths {
  readonly own: OwnRoutes;
  readonly routes: RouteTable;
}

/** The entries of `hosts`. */
export interface NamedHosts {
  /** Finds the host of a request. Throws `bad_request`. */
  readonly find: FindHost;
  readonly pathsOf: (host: NamedHost) => HostPaths;
}

/** Rules of one configuration, for every listener. */
export interface JudgeParts extends HostPaths {
  readonly cors: Pick<Cors, 'enabled'>;
  /** Null: hosts aren't told apart. */
  readonly hosts: NamedHosts | null;
  /** Recognises the console's own host, from which nothing is forwarded; null: the console has none. */
  readonly isConsoleHost: ((host: string) => boolean) | null;
  /** Refuses a service worker that could read what is typed on Postern's own pages; null: service workers aren't checked. */
  readonly assertNoServiceWorker: ((exchange: Exchange) => void) | null;
}

/** Rules of one kind of listener. */
export interface ListenerRules {
  /** Refuses a `Host` that isn't this listener's; null: any host is accepted. */
  readonly assertHost: ((head: RequestHead) => void) | null;
  readonly answersPreflights: boolean;
  /** Refuses a request to a host of which the listener knows no routes; null: any host but a named one has the routes of all. */
  readonly assertKnownHost: ((host: CalledHost) => void) | null;
  /** True if people may be signed in at the host of a request, and led to the sign-in; null: they are nowhere. */
  readonly servesBrowsers:
    | ((request: Pick<Exchange, 'describedHost' | 'namedHost' | 'host'>) => boolean)
    | null;
  /** This gateway's name in `Postern-Via`, on a listener whose requests it forwards; null: another proxy forwards them. */
  readonly via: string | null;
  readonly authenticate: (exchange: Exchange, route: Route) => Awaitable<Principal | null>;
}

/** Judges a request; throws or rejects with its refusal. Synchronous unless it has to wait for a store. */
export type Judge = (exchange: Exchange) => Awaitable<Verdict>;

const preflightVerdict: Verdict = { kind: 'preflight' };

/** Creates the judge of one kind of listener; no other code applies these rules to requests. */
export function createJudge(parts: JudgeParts, rules: ListenerRules): Judge {
  const { cors, hosts, isConsoleHost, assertNoServiceWorker } = parts;
  const { assertHost, assertKnownHost, answersPreflights, servesBrowsers, via, authenticate } = rules;

  /** The paths of the host that a request is for, which is noted in its exchange. */
  function pathsOf(exchange: Exchange): HostPaths {
    if (hosts === null) return parts;
    const called = hosts.find(exchange);
    assertKnownHost?.(called);
    const { text, named } = called;
    exchange.host = text;
    exchange.namedHost = named;
    return named === null ? parts : hosts.pathsOf(named);
  }

  /** True if Postern responds to preflights for a path that isn't its own. */
  function isAnswered(route: Route | undefined): boolean {
    return cors.enabled && route?.leavesCors !== true;
  }

  function judgeRoute(exchange: Exchange, route: Route, preflight: boolean): Awaitable<Verdict> {
    exchange.route = route.label;
    exchange.leavesCors = route.leavesCors;
    exchange.challenge = route.challenge;
    if (via !== null && !isForwarding(route)) throw new Refusal('not_found', { reason: 'no route' });
    exchange.isOnBrowserRoute = route.isForBrowsers && servesBrowsers?.(exchange) === true;
    if (via !== null) assertNoLoop(exchange.head, via);
    assertNoServiceWorker?.(exchange);
    if (preflight && route.passesPreflights)
      return { kind: 'pass', route, principal: null, asPreflight: true };
    const principal = authenticate(exchange, route);
    return principal instanceof Promise
      ? principal.then((found) => admit(exchange, route, found))
      : admit(exchange, route, principal);
  }

  function admit(exchange: Exchange, route: Route, principal: Principal | null): Verdict {
    exchange.caller = principal;
    authorise(route, exchange.method, principal);
    return { kind: 'pass', route, principal, asPreflight: false };
  }

  return (exchange) => {
    const { head, minor, method, target, pathEnd, path } = exchange;
    assertUnambiguousHead(head, minor);
    assertHost?.(head);
    assertMethodIsServed(method);
    assertKnownExpectation(head, minor);
    const { own, routes } = pathsOf(exchange);
    const spelled = own.find(path);
    const isForwarded = spelled === undefined && !isConsoleHost?.(exchange.host);
    const route = isForwarded ? routes.spelled(path) : undefined;
    const isPlain = assertUnambiguousTarget(
      target,
      pathEnd,
      route === undefined ? nothingPasses : route.passes,
    );
    const isCompared = !(isPlain && own.arePlain && routes.arePlain);
    const readings = spelled === undefined && isCompared ? requireReadings(path) : null;
    exchange.targetIsGood = true;
    const preflight = isPreflight(method, head);
    const match = readings === null ? spelled : own.findRead(readings);
    if (match === undefined && !isForwarded) throw new Refusal('not_found');
    // What these pages answer is for the host's own visitors: a page elsewhere that read a start could sign them in as another.
    if (match !== undefined && exchange.namedHost !== null) exchange.leavesCors = true;
    const answers = match === undefined ? isAnswered(route) : !exchange.leavesCors;
    if (preflight && answersPreflights && answers) return preflightVerdict;
    if (match !== undefined) return { kind: 'own', match };
    if (route === undefined) throw new Refusal('not_found', { reason: 'no route' });
    if (readings !== null) routes.assertNoneCloser(route, readings);
    return judgeRoute(exchange, route, preflight);
  };
}
