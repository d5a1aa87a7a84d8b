import type { Principal } from '../credentials/principal.ts';
import { PrincipalCache, type VerifiedCredential } from '../credentials/principal-cache.ts';
import type { WebCookies } from '../credentials/web-cookie.ts';
import { Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { type IsKnownOrigin, isFollowedLink, isForeignPage, isOfOtherHost } from '../http/foreign-page.ts';
import type { NamedHost } from '../http/named-hosts.ts';
import type { RequestHead } from '../http/request-head.ts';
import { asksToUpgrade } from '../http/websocket-protocols.ts';
import { keptText } from '../http1/message/copied-text.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { PrincipalOfSession, SessionProof } from './session-principal.ts';

/**
 * Identifies the caller by the web cookie: `absent` without a cookie that counts, `ended` if the cookie is invalid or its session
 * is no longer alive, so that the browser may forget it. Refuses with `cross_site`, `store_unavailable`.
 */
export type WebCookieAuthenticator = (
  request: Pick<Exchange, 'head' | 'method' | 'namedHost'>,
) => Awaitable<Principal | 'absent' | 'ended'>;

/** Origins whose pages may use a cookie. */
export interface WebCookieOrigins {
  /** True for an origin of ours, or one of `cors.origins`. */
  readonly isKnown: IsKnownOrigin;
  /** True for an origin of `cors.origins` alone. */
  readonly isCors: IsKnownOrigin;
}

/** Dependencies of the {@link WebCookieAuthenticator}. */
export interface WebCookieOptions {
  readonly name: string;
  /** An object that is replaced whenever the results of the codecs may have changed. */
  readonly basis: () => unknown;
  readonly cookiesAt: (host: NamedHost | null) => Pick<WebCookies, 'read' | 'learnSecretsOf'>;
  readonly originsAt: (host: NamedHost | null) => WebCookieOrigins;
  readonly principalOf: PrincipalOfSession;
  /** Called for each request that a session admits: it counts as use of the session. */
  readonly onUse: (sessionId: string) => void;
}

/** Scopes that a cookie names: none, because sign-ins on the pages ask for none. */
const none: readonly string[] = [];

/** A session, and the host at which its cookie counts; null: the cookie is of no named host. */
interface CookieProof extends SessionProof {
  readonly host: string | null;
}

/** Creates the only reader of the web cookie, or of the host cookie. */
export function createWebCookieAuthenticator(options: WebCookieOptions): WebCookieAuthenticator {
  const { name, cookiesAt, originsAt, principalOf, onUse } = options;
  /** Verified cookies, by value. */
  const remembered = new PrincipalCache<CookieProof>();
  let basis = options.basis();

  function admit(found: Principal | Reason): Principal | 'ended' {
    if (typeof found === 'string') return 'ended';
    onUse(found.credentialId);
    return found;
  }

  function ofSession(cookie: VerifiedCredential<CookieProof>): Awaitable<Principal | 'ended'> {
    const found = principalOf(cookie);
    return found instanceof Promise ? found.then(admit) : admit(found);
  }

  function verified(value: string, at: NamedHost | null): VerifiedCredential<CookieProof> | undefined {
    if (basis !== options.basis()) {
      basis = options.basis();
      remembered.clear();
    }
    const host = at?.name ?? null;
    const known = remembered.get(value);
    // A value that is valid at one host is so at no other.
    if (known !== undefined) return known.proof.host === host ? known : undefined;
    const sessionId = cookiesAt(at).read(value);
    if (sessionId === undefined) return undefined;
    return remembered.keep(keptText(value), { sessionId: keptText(sessionId), scopes: none, host });
  }

  /** The cookie of the only valid session; undefined without one or with two, as another host may have planted either. */
  function onlyOne(
    values: readonly string[],
    at: NamedHost | null,
  ): VerifiedCredential<CookieProof> | undefined {
    let one: VerifiedCredential<CookieProof> | undefined;
    for (const value of values) {
      const found = verified(value, at);
      if (found === undefined) continue;
      if (one !== undefined && one.proof.sessionId !== found.proof.sessionId) return undefined;
      one = found;
    }
    return one;
  }

  /** Judges the cookies again after loading secrets: another replica may have signed one of them with a new secret. */
  async function afterLearning(
    values: readonly string[],
    at: NamedHost | null,
  ): Promise<Principal | 'ended'> {
    await cookiesAt(at).learnSecretsOf(values);
    const cookie = onlyOne(values, at);
    return cookie === undefined ? 'ended' : ofSession(cookie);
  }

  return ({ head, method, namedHost }) => {
    const values = cookieValues(head.cookie, name);
    if (values.length === 0 || !webCookieCounts(head, method, originsAt(namedHost))) return 'absent';
    const cookie = onlyOne(values, namedHost);
    return cookie === undefined ? afterLearning(values, namedHost) : ofSession(cookie);
  };
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * True if the web cookie of a request counts. Browsers also attach it to requests from pages of other sites; such a page may link
 * here, but neither change anything nor read what it embeds. Throws {@link Refusal} `cross_site` for requests that pages of other
 * sites may not send at all.
 */
function webCookieCounts(head: RequestHead, method: string, origins: WebCookieOrigins): boolean {
  if (asksToUpgrade(head)) {
    // Fetch metadata is not sent with every WebSocket; the origin always is (RFC 6455 §4.1).
    if (head.originCount !== 1 || !origins.isKnown(head.origin)) throw new Refusal('cross_site');
    return true;
  }
  const isForeign = isForeignPage(head, origins.isKnown);
  if (!safeMethods.has(method)) {
    if (isForeign) throw new Refusal('cross_site');
    return true;
  }
  if (isFollowedLink(head)) return true;
  const isOther = isOfOtherHost(head) || isForeign;
  return !isOther || (head.originCount === 1 && origins.isCors(head.origin));
}
