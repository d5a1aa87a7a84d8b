import { LRUCache } from 'lru-cache';
import type { Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import type { WebCookies } from '../credentials/web-cookie.ts';
import { cookieValues } from '../http/cookies.ts';
import type { RequestHead } from '../http/request-head.ts';
import { type WebCookieOrigins, webCookieCounts } from '../http/web-cookie-use.ts';
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
  readonly cookies: Pick<WebCookies, 'read'>;
  readonly origins: WebCookieOrigins;
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly records: Pick<Records, 'version' | 'findUser'>;
  readonly holdings: Holdings;
  readonly tenant: string;
  /** Called for each request that a session admits: it counts as use of the session. */
  readonly onUse: (sessionId: string) => void;
}

/** A session's principal, valid for one version of the records. */
interface RememberedSession {
  readonly principal: Principal;
  readonly recordsVersion: number;
}

const rememberedSessions = 10_000;

/** Creates the only reader of the web cookie; that its session is alive is checked on every request. */
export function createWebCookieAuthenticator(options: WebCookieOptions): WebCookieAuthenticator {
  const { name, cookies, origins, sessions, records, onUse } = options;
  const remembered = new LRUCache<string, RememberedSession>({ max: rememberedSessions });

  function admit(principal: Principal): Principal {
    onUse(principal.credentialId);
    return principal;
  }

  function ofLive(live: LiveSession | undefined): Awaitable<Principal | 'ended'> {
    if (live === undefined) return 'ended';
    const version = records.version();
    const known = remembered.get(live.id);
    if (known?.recordsVersion === version && known.principal.expires === live.expires)
      return admit(known.principal);
    const user = records.findUser(live.userId);
    return user instanceof Promise
      ? user.then((found) => remember(live, found, version))
      : remember(live, user, version);
  }

  function remember(
    live: LiveSession,
    found: UserWithSets | undefined,
    recordsVersion: number,
  ): Principal | 'ended' {
    const principal = principalOfSession(live, found, null, options);
    if (typeof principal === 'string') return 'ended';
    remembered.set(live.id, { principal, recordsVersion });
    return admit(principal);
  }

  /** One session, whatever the number of cookies: of two, either may have been planted by a neighbouring host. */
  function sessionOf(values: readonly string[]): string | undefined {
    const ids = new Set(values.map((value) => cookies.read(value)).filter((id) => id !== undefined));
    const [id] = ids;
    return ids.size === 1 ? id : undefined;
  }

  return (head, method) => {
    const values = cookieValues(head.cookie, name);
    if (values.length === 0 || !webCookieCounts(head, method, origins)) return 'absent';
    const id = sessionOf(values);
    if (id === undefined) return 'ended';
    const live = sessions.findLive(id);
    return live instanceof Promise ? live.then(ofLive) : ofLive(live);
  };
}
