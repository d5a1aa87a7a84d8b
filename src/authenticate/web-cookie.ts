import type { Principal } from '../credentials/principal.ts';
import { PrincipalCache, type VerifiedCredential } from '../credentials/principal-cache.ts';
import type { WebCookies } from '../credentials/web-cookie.ts';
import { cookieValues } from '../http/cookies.ts';
import type { RequestHead } from '../http/request-head.ts';
import { type WebCookieOrigins, webCookieCounts } from '../http/web-cookie-use.ts';
import { keptText } from '../http1/message/copied-text.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { PrincipalOfSession, SessionProof } from './session-principal.ts';

/**
 * Identifies the caller by the web cookie: `absent` without a cookie that counts, `ended` if the cookie is wrong or its session
 * is no longer alive, so that the browser may forget it.
 *
 * Refuses with `cross_site`, `store_unavailable`.
 */
export type WebCookieAuthenticator = (
  head: RequestHead,
  method: string,
) => Awaitable<Principal | 'absent' | 'ended'>;

/** Dependencies of the {@link WebCookieAuthenticator}. */
export interface WebCookieOptions {
  /** The cookie's name. */
  readonly name: string;
  readonly cookies: Pick<WebCookies, 'read' | 'learnSecretsOf' | 'basis'>;
  readonly origins: WebCookieOrigins;
  readonly principalOf: PrincipalOfSession;
  /** Called for each request that a session admits: it counts as use of the session. */
  readonly onUse: (sessionId: string) => void;
}

/** A cookie names no scopes: sign-ins on the pages ask for none. */
const none: readonly string[] = [];

/** Creates the only reader of the web cookie. */
export function createWebCookieAuthenticator(options: WebCookieOptions): WebCookieAuthenticator {
  const { name, cookies, origins, principalOf, onUse } = options;
  /** Verified cookies, by value. */
  const remembered = new PrincipalCache<SessionProof>();
  let basis = cookies.basis();

  function admit(found: Principal | Reason): Principal | 'ended' {
    if (typeof found === 'string') return 'ended';
    onUse(found.credentialId);
    return found;
  }

  function ofSession(cookie: VerifiedCredential<SessionProof>): Awaitable<Principal | 'ended'> {
    const found = principalOf(cookie);
    return found instanceof Promise ? found.then(admit) : admit(found);
  }

  function verified(value: string): VerifiedCredential<SessionProof> | undefined {
    if (basis !== cookies.basis()) {
      basis = cookies.basis();
      remembered.clear();
    }
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const sessionId = cookies.read(value);
    if (sessionId === undefined) return undefined;
    return remembered.keep(keptText(value), { sessionId: keptText(sessionId), scopes: none });
  }

  /** The only session of the cookies: of two, either may have been planted by a neighbouring host. */
  function onlyOne(values: readonly string[]): VerifiedCredential<SessionProof> | undefined {
    let one: VerifiedCredential<SessionProof> | undefined;
    for (const value of values) {
      const found = verified(value);
      if (found === undefined) continue;
      if (one !== undefined && one.proof.sessionId !== found.proof.sessionId) return undefined;
      one = found;
    }
    return one;
  }

  /** Judges again after loading secrets: another replica may have written one of the cookies under a new one. */
  async function afterLearning(values: readonly string[]): Promise<Principal | 'ended'> {
    await cookies.learnSecretsOf(values);
    const cookie = onlyOne(values);
    return cookie === undefined ? 'ended' : ofSession(cookie);
  }

  return (head, method) => {
    const values = cookieValues(head.cookie, name);
    if (values.length === 0 || !webCookieCounts(head, method, origins)) return 'absent';
    const cookie = onlyOne(values);
    return cookie === undefined ? afterLearning(values) : ofSession(cookie);
  };
}
