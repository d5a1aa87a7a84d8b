import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import { presentsCredential } from '../http/presented-credential.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Authenticate } from './authenticate.ts';
import type { WebCookieAuthenticator } from './web-cookie.ts';

/**
 * Creates the authentication of browser routes: the web cookie counts if the request has no other credential. `clearing`:
 * response headers, names and values in turn, that make a browser forget a cookie that has ended.
 */
export function createAuthenticateBrowser(options: {
  readonly authenticate: Authenticate;
  readonly webCookie: WebCookieAuthenticator;
  readonly clearing: readonly string[];
}): Authenticate {
  const { authenticate, webCookie, clearing } = options;

  function judge(exchange: Exchange, found: Principal | 'absent' | 'ended'): Principal | null {
    if (found === 'ended') exchange.responseFields = clearing;
    if (typeof found === 'string') return null;
    exchange.isByWebCookie = true;
    return found;
  }

  function orByCookie(exchange: Exchange, caller: Principal | null): Awaitable<Principal | null> {
    if (caller !== null || presentsCredential(exchange)) return caller;
    const found = webCookie(exchange.head, exchange.method);
    return found instanceof Promise ? found.then((one) => judge(exchange, one)) : judge(exchange, found);
  }

  return (exchange, rules) => {
    const caller = authenticate(exchange, rules);
    return caller instanceof Promise
      ? caller.then((found) => orByCookie(exchange, found))
      : orByCookie(exchange, caller);
  };
}
