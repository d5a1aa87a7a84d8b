import { Refusal } from '../errors.ts';
import type { Cors } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { isNavigation } from './navigation.ts';
import type { RequestHead } from './request-head.ts';
import { asksToUpgrade } from './websocket-protocols.ts';

/** True for an origin that is the gateway's own or a configured one. */
export type IsKnownOrigin = (origin: string) => boolean;

/** Creates the test for Postern's own origins (without trailing slash) and those in `cors.origins`. */
export function createKnownOrigins(own: readonly string[], cors: Pick<Cors, 'isAllowed'>): IsKnownOrigin {
  return (origin) => own.includes(origin) || cors.isAllowed(origin);
}

/** Values of `Sec-Fetch-Site` if our own page, or no page at all, made the request (Fetch Metadata §2.4). */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * True if a page of another site sent the request. Fetch metadata is checked first, since pages can't set it; then `Origin`:
 * `null`, an empty or a repeated one counts as foreign. A request without either doesn't come from a browser.
 */
export function isForeignPage(head: RequestHead, isKnownOrigin: IsKnownOrigin): boolean {
  if (ownSites.has(head.secFetchSite)) return false;
  if (head.originCount > 0) return head.originCount > 1 || !isKnownOrigin(head.origin);
  return /\bcross-site\b/i.test(head.secFetchSite);
}

/**
 * True if certainly no foreign page sent the request: the browser says so, or no browser sent it. All current
 * browsers send Fetch metadata over https, but not over http (Fetch Metadata §2), where its absence proves nothing.
 */
export function isSurelyOwnPage(head: RequestHead, isKnownOrigin: IsKnownOrigin, isHttps: boolean): boolean {
  if (head.secFetchSite === 'same-origin') return true;
  if (head.originCount > 0) return head.originCount === 1 && isKnownOrigin(head.origin);
  return isHttps && head.secFetchSite === '';
}

/** Keeps foreign pages from signing visitors in to an attacker's account (RFC 6749 §10.12). Throws `cross_site`. */
export function assertNotForeignPage(head: RequestHead, isKnownOrigin: IsKnownOrigin): void {
  if (isForeignPage(head, isKnownOrigin)) throw new Refusal('cross_site');
}

/**
 * True for a navigation that a script can't have made to read its response. Without Fetch metadata, a script that asks for HTML
 * still states its origin, but a browser that follows a link doesn't.
 */
export function isFollowedLink(head: RequestHead): boolean {
  return isNavigation(head) && (head.secFetchMode !== '' || head.originCount === 0);
}

/** True if a browser says that a page of another host sent the request, even one of the same site. */
export function isOfOtherHost({ secFetchSite }: Pick<RequestHead, 'secFetchSite'>): boolean {
  return /\b(?:same|cross)-site\b/i.test(secFetchSite);
}

/**
 * Refuses a credential that a browser keeps and sends by itself, whichever page makes the request: only pages of our own origins
 * may use it, and links from elsewhere. A request with neither `Origin` nor Fetch metadata doesn't come from a browser. Throws
 * `cross_site`.
 */
export function assertNotMadeByOtherPage(
  { head, method }: Pick<Exchange, 'head' | 'method'>,
  isOwnOrigin: IsKnownOrigin,
): void {
  if (head.originCount === 0 && head.secFetchSite === '') return;
  if (asksToUpgrade(head)) {
    // As for the web cookie, the origin alone decides (RFC 6455 §4.1).
    if (head.originCount !== 1 || !isOwnOrigin(head.origin)) throw new Refusal('cross_site');
    return;
  }
  if ((method === 'GET' || method === 'HEAD') && isFollowedLink(head)) return;
  if (isOfOtherHost(head) || isForeignPage(head, isOwnOrigin)) throw new Refusal('cross_site');
}
