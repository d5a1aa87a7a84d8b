import { cookieValues } from '../http/cookies.ts';
import type { RefusedRequest } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { redirection, type WebArea } from './area.ts';
import { isAtHost, type ReturnTo } from './host-destination.ts';
import { refererOf, signInPath } from './return-to.ts';

/** The relevant parts of the request. */
type Asked = Pick<RefusedRequest, 'head' | 'query' | 'address'>;
type Area = Pick<WebArea, 'path' | 'site' | 'cookie' | 'isOwnOrigin' | 'recentSignIns'>;

/** Query parameter that tells the sign-in page that the browser has just come back from a sign-in. */
const mark = 'again';

/**
 * Redirects to the sign-in page, which leads back to `target`, or to `targetPath` if `target` can't be returned to; null: to the
 * default destination of sign-ins. A browser that comes from its sign-in without the web cookie seems to block cookies: the
 * sign-in page then says so, because its user would otherwise go round in circles. The sign-in must be recent: a browser also
 * comes from that page after its user has signed out and gone back, or reloaded the page.
 */
export function ledToSignIn(area: Area, asked: Asked, target: string | null, targetPath = target): Reply {
  const address =
    target === null ? area.site.signIn : signInPath(area.site.signIn, target, targetPath ?? target);
  const isBack = !hasWebCookie(area, asked) && comesFromSignIn(area, asked) && area.recentSignIns.has(asked);
  if (!isBack) return redirection(302, address);
  return redirection(302, `${address}${address.includes('?') ? '&' : '?'}${mark}=1`);
}

/**
 * True if the browser seems to have lost the cookie of a sign-in. A sign-in towards a named host comes back to the sign-in page
 * itself, without a mark of ours.
 */
export function hasLostCookie(
  area: Pick<WebArea, 'cookie' | 'recentSignIns'>,
  asked: Asked,
  returnTo: ReturnTo,
): boolean {
  if (hasWebCookie(area, asked)) return false;
  return isAtHost(returnTo) ? area.recentSignIns.has(asked) : new URLSearchParams(asked.query).has(mark);
}

function hasWebCookie({ cookie }: Pick<WebArea, 'cookie'>, { head }: Asked): boolean {
  return cookieValues(head.cookie, cookie.name).length > 0;
}

/** True if the request comes from a page whose form signs in: the form is answered by a redirect, so `Referer` names its page. */
function comesFromSignIn({ path, isOwnOrigin }: Area, { head }: Asked): boolean {
  const url = refererOf(head);
  if (url === null || !(head.secFetchSite === 'same-origin' || isOwnOrigin(url.origin))) return false;
  return url.pathname === `${path}/sign-in` || url.pathname === `${path}/activate`;
}
