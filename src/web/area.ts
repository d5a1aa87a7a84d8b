import type { WebCookies } from '../credentials/web-cookie.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { Content, Reply } from '../http/reply.ts';
import type { Assets } from './assets.ts';
import type { ConsolePlace } from './console.ts';
import type { RecentSignIns } from './recent-sign-ins.ts';
import type { Site } from './site.ts';

/** The pages for people, and what they have in common. */
export interface WebArea {
  /** `web.path`. */
  readonly path: string;
  /** Where a sign-in at that host leads without `return_to`: `web.home`, or on the console's own the first page of the area. */
  readonly homeAt: (host: string) => string;
  readonly site: Site;
  readonly assets: Assets;
  readonly cookie: CookieAttributes;
  readonly cookies: WebCookies;
  readonly recentSignIns: RecentSignIns;
  /** Null: there is none. */
  readonly console: ConsolePlace | null;
  /** The origin by which a host is reached: `base_url`, or the console's own. */
  readonly originAt: (host: string) => string;
  /** True if pages of that origin may send forms here: Postern's own alone. */
  readonly isOwnOrigin: IsKnownOrigin;
  /** True if a path belongs to Postern, so that a sign-in leads there only if it is a page. */
  readonly isOwnPath: (path: string) => boolean;
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

const withoutReferrer: readonly string[] = [
  'Content-Security-Policy',
  policy,
  'Cross-Origin-Opener-Policy',
  'noopener-allow-popups',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'X-Content-Type-Options',
  'nosniff',
];

/** Headers of every response of the area, names and values in turn. */
export const areaFields: readonly string[] = [...withoutReferrer, 'Referrer-Policy', 'same-origin'];

const leavingFields: readonly string[] = [...withoutReferrer, 'Referrer-Policy', 'no-referrer'];

/** Leads the browser on. `headers`: further ones, names and values in turn. */
export function redirection(
  status: 302 | 303 | 308,
  location: string,
  headers: readonly string[] = [],
): Reply {
  return { status, headers: ['Location', location, ...headers] };
}

/**
 * Leads the browser to another origin by a page that refreshes, and has a link, to it: browsers check every redirect that follows
 * a form against the `form-action` of the page with the form, ours or a service's (CSP §6.4.1). `headers`: further ones.
 */
export function leaving(url: string, document: string, headers: readonly string[] = []): Reply {
  return {
    status: 200,
    headers: ['Refresh', `0; url=${url}`, ...headers],
    pathFields: leavingFields,
    content: htmlContent(document),
  };
}

/** A page as the content of a reply. */
export function htmlContent(document: string): Content {
  return { type: 'text/html; charset=utf-8', bytes: Buffer.from(document) };
}
