import type { Authenticate } from '../authenticate/authenticate.ts';
import { createAuthenticateBrowser } from '../authenticate/authenticate-browser.ts';
import type { PrincipalOfSession } from '../authenticate/session-principal.ts';
import { createWebCookieAuthenticator, type WebCookieAuthenticator } from '../authenticate/web-cookie.ts';
import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { VerifiedCredential } from '../credentials/principal-cache.ts';
import { createIsProviderPath } from '../endpoints/provider-paths.ts';
import { setCookie } from '../http/cookies.ts';
import type { Cors } from '../http/cors.ts';
import type { Exchange, RefusedRequest } from '../http/exchange.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { InsteadOf } from '../http/reply.ts';
import type { EchoPage } from '../proxy/echo.ts';
import { areaOf } from '../rules/own-areas.ts';
import type { WebArea } from '../web/area.ts';
import type { LastingParts } from './lasting-parts.ts';
import type { BrowserCookieNames } from './missing-credential.ts';

/** Parts of the request path for browsers. */
export interface BrowserParts {
  /** The pages for people, and the authentication of the people signed in to them; null without `web`. */
  readonly web: {
    readonly area: WebArea;
    readonly webCookie: WebCookieAuthenticator;
    /** True if a session and its user may be admitted now. Rejects with `store_unavailable`. */
    readonly isAlive: (sessionId: string) => Promise<boolean>;
    readonly cookieNames: BrowserCookieNames;
    readonly echoPage: EchoPage;
  } | null;
  /** Identifies callers on browser routes. */
  readonly authenticateBrowser: Authenticate;
  readonly assertNoServiceWorker: ((exchange: Exchange) => void) | null;
  /** Further headers of Postern's own responses on a path of a host, names and values in turn. */
  readonly fieldsOn: (request: Pick<RefusedRequest, 'path' | 'namedHost'>) => readonly string[];
  readonly insteadOf: InsteadOf;
}

interface BrowserOptions extends LastingParts {
  readonly readFile: ReadFile;
  readonly authenticate: Authenticate;
  readonly principalOf: PrincipalOfSession;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly cors: Pick<Cors, 'isAllowed'>;
}

const none: readonly string[] = [];
const noReferrer: readonly string[] = ['Referrer-Policy', 'no-referrer'];

/** Builds the parts for browsers; code that only `web` needs is loaded only if `web` is configured. */
export async function composeBrowser(config: Config, options: BrowserOptions): Promise<BrowserParts> {
  const { authenticate } = options;
  const isProviderPath = createIsProviderPath(config.api_path);
  // URLs there contain assertions and codes, which no browser may pass on (Referrer Policy §3.1).
  const fieldsOnProviderPaths = (path: string) => (isProviderPath(path) ? noReferrer : none);
  if (config.web === undefined)
    return {
      web: null,
      authenticateBrowser: authenticate,
      assertNoServiceWorker: null,
      fieldsOn: ({ path }) => fieldsOnProviderPaths(path),
      insteadOf: () => null,
    };
  const { composeWebArea } = await import('./web-area.ts');
  const { areaFields, fieldsOfHosts } = await import('../web/area.ts');
  const { createRefusedNavigation } = await import('../web/refused-navigation.ts');
  const { createEchoPage } = await import('../web/pages/echo.ts');
  const { createServiceWorkerGuard } = await import('../web/service-workers.ts');
  const { path, service_workers: serviceWorkers } = config.web;
  const area = composeWebArea(config, config.web, options);
  const webCookie = composeWebCookie(options, area);
  const clearing = ['Set-Cookie', setCookie(area.cookie, '', 0)];
  return {
    web: {
      area,
      webCookie,
      isAlive: async (sessionId) =>
        typeof (await options.principalOf(new VerifiedCredential({ sessionId, scopes: none }))) !== 'string',
      cookieNames: { web: area.cookie.name, ofHosts: area.hostCookie.name },
      echoPage: createEchoPage(area),
    },
    authenticateBrowser: createAuthenticateBrowser({
      authenticate,
      web: { authenticate: webCookie, clearing },
      ofHosts: {
        authenticate: composeHostCookie(options, area),
        clearing: ['Set-Cookie', setCookie(area.hostCookie, '', 0)],
      },
    }),
    assertNoServiceWorker: serviceWorkers === 'allow' ? null : createServiceWorkerGuard(path),
    fieldsOn({ path: target, namedHost }) {
      if (namedHost !== null) return areaOf(target, [path]) === undefined ? none : fieldsOfHosts;
      return area.isPagePath(target) ? areaFields : fieldsOnProviderPaths(target);
    },
    insteadOf: createRefusedNavigation(area),
  };
}

function composeWebCookie(
  { principalOf, recentUse, now, isKnownOrigin, cors }: BrowserOptions,
  { cookie, cookies }: WebArea,
): WebCookieAuthenticator {
  const origins = { isKnown: isKnownOrigin, isCors: cors.isAllowed };
  return createWebCookieAuthenticator({
    name: cookie.name,
    basis: cookies.basis,
    cookiesAt: () => cookies,
    originsAt: () => origins,
    principalOf,
    onUse: (id) => recentUse.noteSession(id, now()),
  });
}

function composeHostCookie(
  { principalOf, recentUse, now, keys }: BrowserOptions,
  { hostCookie, hostCookies }: WebArea,
): WebCookieAuthenticator {
  return createWebCookieAuthenticator({
    name: hostCookie.name,
    basis: () => keys.keys,
    cookiesAt: (host) => hostCookies.at(host!.name),
    originsAt: (host) => ({ isKnown: host!.isOwnOrigin, isCors: never }),
    principalOf,
    onUse: (id) => recentUse.noteSession(id, now()),
  });
}

const never = () => false;
