import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import { presentsCredential } from '../http/presented-credential.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Authenticate } from './authenticate.ts';
import type { WebCookieAuthenticator } from './web-cookie.ts';

/** The cookie by which browsers are signed in at a host. */
export interface BrowserCookie {
  readonly authenticate: WebCookieAuthenticator;
  /** Response headers, names and values in turn, that make a browser forget a cookie that has ended. */
  readonly clearing: readonly string[];
}

/**
 * Creates the authentication of browser routes: a cookie counts if the request has no other credential. `web`: that of every host
 * but the named ones, which have `ofHosts`.
 */
export function createAuthenticateBrowser(options: {
  readonly authenticate: Authenticate;
  readonly web: BrowserCookie;
  readonly ofHosts: BrowserCookie;
}): Authenticate {
  const { authenticate, web, ofHosts } = options;
  const cookieAt = ({ namedHost }: Exchange) => (namedHost === null ? web : ofHosts);

  function judge(exchange: Exchange, found: Principal | 'absent' | 'ended'): Principal | null {
    if (found === 'ended') exchange.responseFields = cookieAt(exchange).clearing;
    if (typeof found === 'string') return null;
    exchange.isByWebCookie = true;
    return found;
  }

  function orByCookie(exchange: Exchange, caller: Principal | null): Awaitable<Principal | null> {
    if (caller !== null || presentsCredential(exchange)) return caller;
    const found = cookieAt(exchange).authenticate(exchange);
    return found instanceof Promise ? found.then((one) => judge(exchange, one)) : judge(exchange, found);
  }

  return (exchange, rules) => {
    const caller = authenticate(exchange, rules);
    return caller instanceof Promise
      ? caller.then((found) => orByCookie(exchange, found))
      : orByCookie(exchange, caller);
  };
}
