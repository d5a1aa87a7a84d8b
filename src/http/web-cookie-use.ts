import { Refusal } from '../errors.ts';
import { type IsKnownOrigin, isForeignPage } from './foreign-page.ts';
import { isNavigation } from './navigation.ts';
import type { RequestHead } from './request-head.ts';
import { asksToUpgrade } from './websocket-protocols.ts';

/** Origins whose pages may use the web cookie. */
export interface WebCookieOrigins {
  /** Pages of ours, and of `cors.origins`. */
  readonly isKnown: IsKnownOrigin;
  /** Pages of `cors.origins` alone. */
  readonly isCors: IsKnownOrigin;
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * True if the web cookie of a request counts. Browsers attach it to requests of other sites' pages, too: those pages may follow
 * a link, but neither change anything nor read what they embed.
 *
 * Throws {@link Refusal} `cross_site` for what another site's page may not send at all.
 */
export function webCookieCounts(head: RequestHead, method: string, origins: WebCookieOrigins): boolean {
  if (asksToUpgrade(head)) {
    // Fetch metadata is not sent with every WebSocket; the origin always is (RFC 6455 §4.1).
    if (head.originCount !== 1 || !origins.isKnown(head.origin)) throw new Refusal('cross_site');
    return true;
  }
  const isForeign = isForeignPage(head, origins.isKnown);
  if (!safeMethods.has(method)) {
    if (isForeign) throw new Refusal('cross_site');
    return true;
  }
  // Without Fetch metadata a script may ask for HTML as well, but says from where; who follows a link doesn't.
  if (isNavigation(head) && (head.secFetchMode !== '' || head.originCount === 0)) return true;
  const isOther = /\b(?:same|cross)-site\b/i.test(head.secFetchSite) || isForeign;
  return !isOther || (head.originCount === 1 && origins.isCors(head.origin));
}
