import { isRefusal, Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { isBesideSignIn } from '../http/presented-credential.ts';
import type { Reason } from '../reasons.ts';

/** Names of the cookies by which browsers are signed in. */
export interface BrowserCookieNames {
  readonly web: string;
  readonly ofHosts: string;
}

/**
 * The reason why the sign-in of a refused browser didn't admit it, or an empty text: the request had no web cookie, or was
 * refused for another reason. `cookies`: names of the cookies that sign browsers in; null: there are none.
 */
export function reasonOfWebCookie(
  exchange: Exchange,
  error: unknown,
  cookies: BrowserCookieNames | null,
): Reason | '' {
  if (cookies === null) return '';
  if (error instanceof Refusal && isBesideSignIn(exchange, error.status))
    return 'authorization beside the sign-in';
  if (!isRefusal(error, 'not_authenticated') || error.options.reason !== undefined) return '';
  const { head, isOnBrowserRoute, responseFields, namedHost } = exchange;
  if (cookieValues(head.cookie, namedHost === null ? cookies.web : cookies.ofHosts).length === 0) return '';
  if (!isOnBrowserRoute) return 'web cookie on a route without browser: true';
  // The response makes the browser forget a cookie that no longer counts.
  return responseFields.length > 0 ? 'session ended' : 'foreign page';
}
