import { Refusal } from '../errors.ts';
import type { Cors } from './cors.ts';
import type { RequestHead } from './request-head.ts';

/** Whether an origin is the gateway's own or a configured one. */
export type IsKnownOrigin = (origin: string) => boolean;

/** Knows `baseUrl` (an origin, without trailing slash) and the origins of `cors.origins`. */
export function createKnownOrigins(baseUrl: string, cors: Pick<Cors, 'isAllowed'>): IsKnownOrigin {
  return (origin) => origin === baseUrl || cors.isAllowed(origin);
}

/** Fetch metadata that vouches for the page: our own one, or no page at all (Fetch Metadata §2.4). */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Whether a request was sent by a page that is not one of ours. Fetch metadata is believed first, since no page can
 * write it; then `Origin`, where `null`, a blank or a repeated one is nobody's. A request with neither is no browser's.
 */
export function isForeignPage(head: RequestHead, isKnownOrigin: IsKnownOrigin): boolean {
  if (ownSites.has(head.secFetchSite)) return false;
  if (head.originCount > 0) return head.originCount > 1 || !isKnownOrigin(head.origin);
  return /\bcross-site\b/i.test(head.secFetchSite);
}

/**
 * Whether no page but one of ours can have sent a request, whatever it is worth to a stranger: browsers say so, or no
 * browser sent it. All of today's name the site of a request over https; over http they don't (Fetch Metadata §2), so
 * that there silence says nothing.
 */
export function isSurelyOwnPage(head: RequestHead, isKnownOrigin: IsKnownOrigin, isHttps: boolean): boolean {
  if (head.secFetchSite === 'same-origin') return true;
  if (head.originCount > 0) return head.originCount === 1 && isKnownOrigin(head.origin);
  return isHttps && head.secFetchSite === '';
}

/**
 * Refuses what a foreign page posts where it would sign its visitor in to an account that is not theirs (login CSRF,
 * RFC 6749 §10.12). Throws {@link Refusal} `cross_site`.
 */
export function assertNotForeignPage(head: RequestHead, isKnownOrigin: IsKnownOrigin): void {
  if (isForeignPage(head, isKnownOrigin)) throw new Refusal('cross_site');
}
