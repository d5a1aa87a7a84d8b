import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Authenticate } from './authenticate.ts';
import type { WebCookieAuthenticator } from './web-cookie.ts';

/** Identifies the caller on a browser route; null without a credential. Refuses as {@link Authenticate} does. */
export type AuthenticateBrowser = (
  exchange: Exchange,
  otherSchemesPass: boolean,
) => Awaitable<Principal | null>;

/**
 * Creates the authentication of browser routes: the web cookie counts if the request has no other credential. `clearing`:
 * response headers, names and values in turn, that make a browser forget a cookie that has ended.
 */
export function createAuthenticateBrowser(options: {
  readonly authenticate: Authenticate;
  readonly webCookie: WebCookieAuthenticator;
  readonly clearing: readonly string[];
}): AuthenticateBrowser {
  const { authenticate, webCookie, clearing } = options;

  function judge(exchange: Exchange, found: Principal | 'absent' | 'ended'): Principal | null {
    if (found === 'ended') exchange.responseFields = clearing;
    if (typeof found === 'string') return null;
    exchange.isByWebCookie = true;
    return found;
  }

  return (exchange, otherSchemesPass) => {
    const { head, method } = exchange;
    const caller = authenticate(head, otherSchemesPass);
    if (caller !== null || head.authorizationCount + head.apiKeyCount > 0) return caller;
    const found = webCookie(head, method);
    return found instanceof Promise ? found.then((one) => judge(exchange, one)) : judge(exchange, found);
  };
}
