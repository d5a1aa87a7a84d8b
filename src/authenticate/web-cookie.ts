import { LRUCache } from 'lru-cache';
import type { Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import type { WebCookies } from '../credentials/web-cookie.ts';
import { cookieValues } from '../http/cookies.ts';
import type { RequestHead } from '../http/request-head.ts';
import { type WebCookieOrigins, webCookieCounts } from '../http/web-cookie-use.ts';
import { keptText } from '../http1/message/copied-text.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Records } from '../stores/records.ts';
import type { LiveSession, Sessions } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import { principalOfSession } from './session-principal.ts';

/**
 * The caller by the web cookie: `absent` if there is none or it doesn't count, `ended` if it is wrong or its session is no
 * longer alive, so that the browser may forget it.
 *
 * Refuses with `cross_site`, `store_unavailable`.
 */
export type WebCookieAuthenticator = (
  head: RequestHead,
  method: string,
) => Awaitable<Principal | 'absent' | 'ended'>;

/** What identifies callers by the web cookie. */
export interface WebCookieOptions {
  /** The cookie's name. */
  readonly name: string;
  readonly cookies: Pick<WebCookies, 'read' | 'learnSecretsOf' | 'basis'>;
  readonly origins: WebCookieOrigins;
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly records: Pick<Records, 'version' | 'findUser'>;
  readonly holdings: Holdings;
  readonly tenant: string;
  /** Called for each request that a session admits: it counts as use of the session. */
  readonly onUse: (sessionId: string) => void;
}

/** A value whose MAC was verified, with a slot for its session's principal. */
class VerifiedCookie {
  readonly sessionId: string;
  principal: Principal | undefined = undefined;
  /** The `Records.version()` that `principal` was resolved at. */
  recordsVersion: number | undefined = undefined;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }
}

const rememberedCookies = 10_000;

/** A cookie names no scopes: sign-ins on the pages ask for none. */
const none: readonly string[] = [];

/** Creates the only reader of the web cookie; that its session is alive is checked on every request. */
export function createWebCookieAuthenticator(options: WebCookieOptions): WebCookieAuthenticator {
  const { name, cookies, origins, sessions, records, onUse } = options;
  /** By value. Only valid ones are kept: made-up values must not evict real ones. */
  const remembered = new LRUCache<string, VerifiedCookie>({ max: rememberedCookies });
  let basis = cookies.basis();

  function admit(principal: Principal): Principal {
    onUse(principal.credentialId);
    return principal;
  }

  function resolve(cookie: VerifiedCookie, live: LiveSession | undefined): Awaitable<Principal | 'ended'> {
    if (live === undefined) return 'ended';
    const version = records.version();
    const known = cookie.principal;
    if (known !== undefined && cookie.recordsVersion === version && known.expires === live.expires)
      return admit(known);
    const user = records.findUser(live.userId);
    return user instanceof Promise
      ? user.then((found) => remember(cookie, live, found, version))
      : remember(cookie, live, user, version);
  }

  function remember(
    cookie: VerifiedCookie,
    live: LiveSession,
    found: UserWithSets | undefined,
    version: number,
  ): Principal | 'ended' {
    const principal = principalOfSession(live, found, none, options);
    if (typeof principal === 'string') return 'ended';
    cookie.principal = principal;
    cookie.recordsVersion = version;
    return admit(principal);
  }

  function verified(value: string): VerifiedCookie | undefined {
    if (basis !== cookies.basis()) {
      basis = cookies.basis();
      remembered.clear();
    }
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const sessionId = cookies.read(value);
    if (sessionId === undefined) return undefined;
    const cookie = new VerifiedCookie(keptText(sessionId));
    remembered.set(keptText(value), cookie);
    return cookie;
  }

  /** One session, whatever the number of cookies: of two, either may have been planted by a neighbouring host. */
  function onlyOne(values: readonly string[]): VerifiedCookie | undefined {
    let one: VerifiedCookie | undefined;
    for (const value of values) {
      const found = verified(value);
      if (found === undefined) continue;
      if (one !== undefined && one.sessionId !== found.sessionId) return undefined;
      one = found;
    }
    return one;
  }

  /** None counts by the secrets known here, but another replica may have written one of them under a new one. */
  async function afterLearning(values: readonly string[]): Promise<Principal | 'ended'> {
    await cookies.learnSecretsOf(values);
    const cookie = onlyOne(values);
    return cookie === undefined ? 'ended' : ofSession(cookie);
  }

  function ofSession(cookie: VerifiedCookie): Awaitable<Principal | 'ended'> {
    const live = sessions.findLive(cookie.sessionId);
    return live instanceof Promise ? live.then((found) => resolve(cookie, found)) : resolve(cookie, live);
  }

  return (head, method) => {
    const values = cookieValues(head.cookie, name);
    if (values.length === 0 || !webCookieCounts(head, method, origins)) return 'absent';
    const cookie = onlyOne(values);
    return cookie === undefined ? afterLearning(values) : ofSession(cookie);
  };
}
