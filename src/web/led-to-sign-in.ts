import { cookieValues } from '../http/cookies.ts';
import type { RefusedRequest } from '../http/refused-request.ts';
import type { Reply } from '../http/reply.ts';
import { redirection, type WebArea } from './area.ts';
import { refererOf } from './form-page.ts';
import { signInPath } from './return-to.ts';

/** What is read of the request. */
type Asked = Pick<RefusedRequest, 'head' | 'query' | 'address'>;
type Area = Pick<WebArea, 'path' | 'cookie' | 'isOwnOrigin' | 'recentSignIns'>;

/** In the query of the sign-in page: the browser comes from there. */
const mark = 'again';

/**
 * Leads to the sign-in page, and from there to `target`, or where none can be led back to, to its path alone; null: to where
 * sign-ins lead. A browser that was led from its sign-in to here and has no web cookie seems not to have kept it: the page tells its
 * user, who would otherwise go round in circles. That it comes from there is not enough: so does one whose user signs out and
 * goes back, or loads the page again.
 */
export function ledToSignIn(area: Area, asked: Asked, target: string | null, targetPath = target): Reply {
  const address =
    target === null ? `${area.path}/sign-in` : signInPath(area.path, target, targetPath ?? target);
  const isBack = !hasWebCookie(area, asked) && comesFromSignIn(area, asked) && area.recentSignIns.has(asked);
  if (!isBack) return redirection(302, address);
  return redirection(302, `${address}${address.includes('?') ? '&' : '?'}${mark}=1`);
}

/** Whether the sign-in page was asked for by a browser that has lost the cookie of a sign-in, as far as can be seen. */
export function hasLostCookie(area: Pick<WebArea, 'cookie'>, asked: Asked): boolean {
  return !hasWebCookie(area, asked) && new URLSearchParams(asked.query).has(mark);
}

function hasWebCookie({ cookie }: Pick<WebArea, 'cookie'>, { head }: Asked): boolean {
  return cookieValues(head.cookie, cookie.name).length > 0;
}

/** The pages whose forms sign in lead on by a redirection, so that the browser says it comes from them. */
function comesFromSignIn({ path, isOwnOrigin }: Area, { head }: Asked): boolean {
  const url = refererOf(head);
  if (url === null || !(head.secFetchSite === 'same-origin' || isOwnOrigin(url.origin))) return false;
  return url.pathname === `${path}/sign-in` || url.pathname === `${path}/activate`;
}
