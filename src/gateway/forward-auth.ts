import type { Authenticate } from '../authenticate/authenticate.ts';
import type { Config, DecisionListenerConfig } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { answeredNames, createDecision, type Decision } from '../forward-auth/answer.ts';
import { leadingBrowsers } from '../forward-auth/led-browsers.ts';
import { modes, refusalShapeOf } from '../forward-auth/modes.ts';
import { describesHost } from '../forward-auth/question.ts';
import { createAliasesIn } from '../forward-auth/received-headers.ts';
import type { OwnCookies } from '../http/cookies.ts';
import { createCors } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HeaderRules } from '../http/header-names.ts';
import { createIsNameOf } from '../http/host.ts';
import { type CalledHost, unreadableHost } from '../http/named-hosts.ts';
import { createReplies, type Replies } from '../http/reply.ts';
import { normalisedName } from '../rules/known-headers.ts';
import type { Assertions } from './assertions.ts';
import type { BrowserParts } from './browser.ts';
import { withoutPassed } from './header-rules.ts';
import type { ListenerRules } from './judge.ts';

/** Parts that decisions share with the request path. */
export interface DecisionParts {
  readonly headerRules: HeaderRules;
  readonly ownCookies: OwnCookies;
  readonly assertions: Pick<Assertions, 'assertForListener'>;
  readonly authenticate: Authenticate;
  readonly browser: Pick<BrowserParts, 'authenticateBrowser' | 'insteadOf' | 'fieldsOn'>;
  readonly onInternalError: (error: unknown, exchange: Exchange) => void;
}

/** A listener for decisions: the rules by which it judges, and its answers. */
export interface DecisionListener {
  readonly rules: ListenerRules;
  readonly decision: Decision;
  /** True if the host of each request has to be described. */
  readonly readsHost: boolean;
}

/** CORS switched off: a proxy that asks for decisions handles CORS itself for the requests that it forwards. */
const noCors = createCors({ origins: [] });

/** Builds the listeners for decisions, in the order of `forward_auth`. */
export function composeDecisions(config: Config, parts: DecisionParts): DecisionListener[] {
  const { headerRules, ownCookies, assertions } = parts;
  const identity = Object.values(config.upstreams).flatMap((upstream) =>
    Object.keys(upstream.identity_headers),
  );
  const names = answeredNames(identity);
  const answered = new Set(['cookie', ...names.map((name) => name.toLowerCase())]);
  const answersCredentials = config.routes.some((route) => route.authorization === 'pass');
  const passesCookies = !headerRules.dropped.some((name) => normalisedName(name) === 'cookie');
  return config.forward_auth.map((listener, index) => {
    const mode = modes[listener.mode];
    const readsHost = describesHost(listener, config);
    const servesBrowsers = listener.browser ? createServesBrowsers(config) : null;
    const decision = createDecision({
      mode,
      passesAliases: listener.client_headers === 'pass',
      aliasesIn: createAliasesIn(
        mode,
        answered,
        listener.assertion === undefined ? headerRules : withoutPassed(headerRules),
        readsHost,
      ),
      names,
      ownCookies,
      passesCookies,
      answersCredentials,
      assert: assertions.assertForListener(index),
      replies: composeReplies(config, listener, servesBrowsers, parts),
    });
    return { decision, readsHost, rules: rulesOf(config, decision, servesBrowsers, parts) };
  });
}

/** Creates the test for the hosts at which people are signed in: those of `hosts`, and that of `base_url`. */
function createServesBrowsers({ base_url: baseUrl }: Config): NonNullable<ListenerRules['servesBrowsers']> {
  const isBaseUrl = createIsNameOf(baseUrl);
  return ({ describedHost, namedHost, host }) => {
    if (describedHost === null) return false;
    return namedHost === null ? isBaseUrl(host) : namedHost !== unreadableHost;
  };
}

function composeReplies(
  config: Config,
  { mode: name }: DecisionListenerConfig,
  servesBrowsers: ListenerRules['servesBrowsers'],
  { browser, onInternalError }: DecisionParts,
): Replies {
  const mode = modes[name];
  const shape = refusalShapeOf(mode);
  const common = { realm: config.tenant, cors: noCors, shape, onInternalError };
  if (servesBrowsers === null) return createReplies({ ...common, fieldsOn: () => [], insteadOf: () => null });
  const insteadOf = leadingBrowsers(mode, browser.insteadOf);
  return createReplies({
    ...common,
    fieldsOn: browser.fieldsOn,
    insteadOf: (request, ...refused) => (servesBrowsers(request) ? insteadOf(request, ...refused) : null),
  });
}

function rulesOf(
  { hosts }: Config,
  decision: Decision,
  servesBrowsers: ListenerRules['servesBrowsers'],
  { authenticate, browser }: DecisionParts,
): ListenerRules {
  return {
    assertHost: null,
    assertKnownHost: hosts === undefined ? null : assertKnownHost,
    answersPreflights: false,
    servesBrowsers,
    via: null,
    authenticate(exchange, route) {
      // A comma in an `Authorization` of the application's own tells nothing: AWS and Digest have several.
      if (!route.passesAuthorization) decision.assertOneCredential(exchange.head);
      return exchange.isOnBrowserRoute
        ? browser.authenticateBrowser(exchange, route)
        : authenticate(exchange, route);
    },
  };
}

/** Refuses the requests that reach a proxy's default server: routes without a host are for `base_url`'s here. */
function assertKnownHost({ named, isBaseUrl }: CalledHost): void {
  if (named === null && !isBaseUrl) throw new Refusal('not_found', { reason: 'unknown host' });
}
