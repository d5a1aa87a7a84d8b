import type { HostCookies, WebCookies } from '../credentials/web-cookie.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { FindByOrigin, NamedHost } from '../http/named-hosts.ts';
import type { Content, Reply } from '../http/reply.ts';
import type { Assets } from './assets.ts';
import type { ConsoleLocation } from './console.ts';
import type { RecentSignIns } from './recent-sign-ins.ts';
import type { Site } from './site.ts';

/** Settings that the pages for people share. */
export interface WebArea {
  readonly path: string;
  /** Destination, at a host, of a sign-in without `return_to`: `web.home`, or on the console's own host the area's first page. */
  readonly homeAt: (host: string) => string;
  readonly site: Site;
  /** The site with the origins that people of a host may know: the console's own origin is told on its own host alone. */
  readonly siteAt: (host: string) => Site;
  readonly assets: Assets;
  readonly cookie: CookieAttributes;
  readonly cookies: WebCookies;
  /** The cookie of named hosts, and its codec. */
  readonly hostCookie: CookieAttributes;
  readonly hostCookies: HostCookies;
  readonly recentSignIns: RecentSignIns;
  /** The console; null: there is none. */
  readonly console: ConsoleLocation | null;
  /** The site at a named host, where people begin at `start`. */
  readonly siteOn: (host: NamedHost) => Site;
  /** Finds named hosts; null: there are none. */
  readonly findByOrigin: FindByOrigin | null;
  /** True for the console's own host. */
  readonly isConsoleHost: (host: string) => boolean;
  /** True if a path at a named host, however spelled, may be read as one of Postern's there. */
  readonly mayBeHostPage: (path: string) => boolean;
  /** Origin of the addresses at a host: that of `base_url`, or the console's own. */
  readonly originAt: (host: string) => string;
  /** True if pages of an origin may send forms here: only Postern's own. */
  readonly isOwnOrigin: IsKnownOrigin;
  /** True if a path is in the area of the pages: below {@link path}, but not in the API if that is there. */
  readonly isPagePath: (path: string) => boolean;
  /** True if a path, however spelled, may be read as one of Postern's, so that a sign-in leads there only if it is a page. */
  readonly mayBeOwnPath: (path: string) => boolean;
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Headers of a response, names and values in turn; these two differ between hosts, and between pages that stay and leave. */
function fields(openerPolicy: string, referrerPolicy: string): readonly string[] {
  return [
    'Content-Security-Policy',
    policy,
    'Cross-Origin-Opener-Policy',
    openerPolicy,
    'Cross-Origin-Resource-Policy',
    'same-origin',
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    referrerPolicy,
  ];
}

/** Headers of every response of the area, names and values in turn. */
export const areaFields: readonly string[] = fields('noopener-allow-popups', 'same-origin');

/** The same on named hosts, where addresses hold codes, and the other documents of the origin are a service's. */
export const fieldsOfHosts: readonly string[] = fields('same-origin', 'no-referrer');

const leavingFields: readonly string[] = fields('noopener-allow-popups', 'no-referrer');

/** Redirects the browser. `headers`: further headers, names and values in turn. */
export function redirection(
  status: 302 | 303 | 308,
  location: string,
  headers: readonly string[] = [],
): Reply {
  return { status, headers: ['Location', location, ...headers] };
}

/**
 * Leads the browser to another origin by a page with a `Refresh` header and a link, because browsers check every redirect after a
 * form against the `form-action` of the page with the form, ours or a service's (CSP §6.4.1). `headers`: further headers; `host`:
 * the named host that the browser leaves.
 */
export function leaving(
  url: string,
  document: string,
  headers: readonly string[] = [],
  host: NamedHost | null = null,
): Reply {
  return {
    status: 200,
    headers: ['Refresh', `0; url=${url}`, ...headers],
    pathFields: host === null ? leavingFields : fieldsOfHosts,
    content: htmlContent(document),
  };
}

/** A page as the content of a reply. */
export function htmlContent(document: string): Content {
  return { type: 'text/html; charset=utf-8', bytes: Buffer.from(document) };
}
