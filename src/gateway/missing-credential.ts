import { isRefusal, Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { isBesideSignIn } from '../http/presented-credential.ts';
import type { Reason } from '../reasons.ts';

/**
 * The reason why the sign-in of a refused browser didn't admit it, or an empty text: the request had no web cookie, or was
 * refused for another reason. `cookieName`: name of the web cookie; null: there is none.
 */
export function reasonOfWebCookie(
  exchange: Exchange,
  error: unknown,
  cookieName: string | null,
): Reason | '' {
  if (cookieName === null) return '';
  if (error instanceof Refusal && isBesideSignIn(exchange, error.status))
    return 'authorization beside the sign-in';
  if (!isRefusal(error, 'not_authenticated') || error.options.reason !== undefined) return '';
  const { head, isOnBrowserRoute, responseFields } = exchange;
  if (cookieValues(head.cookie, cookieName).length === 0) return '';
  if (!isOnBrowserRoute) return 'web cookie on a route without browser: true';
  // The response makes the browser forget a cookie that no longer counts.
  return responseFields.length > 0 ? 'session ended' : 'foreign page';
}
