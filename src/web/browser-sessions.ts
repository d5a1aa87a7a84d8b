import { byItsUser, type EndSessionParts, endSession } from '../administration/sessions.ts';
import type { WebCookieAuthenticator } from '../authenticate/web-cookie.ts';
import type { Principal } from '../credentials/principal.ts';
import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import { originOf } from '../endpoints/caller.ts';
import type { SignedIn } from '../endpoints/sign-in.ts';
import type { StartCookies } from '../endpoints/start-cookies.ts';
import { cookieValues, setCookie } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { Session } from '../stores/sessions.ts';
import { leaving, redirection, type WebArea } from './area.ts';
import { admits, consoleAt } from './console.ts';
import { type HostDestination, returnToQuery, shownHost } from './host-destination.ts';
import { signedInPage } from './pages/to-host.ts';

/** Dependencies of {@link BrowserSessions}. */
export interface BrowserSessionsOptions {
  readonly area: Pick<WebArea, 'console' | 'cookie' | 'cookies' | 'recentSignIns' | 'site'>;
  readonly webCookie: WebCookieAuthenticator;
  readonly ending: EndSessionParts;
  /** Name and codec of the refresh cookie. */
  readonly refresh: { readonly name: string; readonly cookies: RefreshCookies };
  /** Headers that make a browser forget its session, names and values in turn. */
  readonly forgetting: readonly string[];
  /** Cookies of the sign-ins that a browser may have begun at a host. */
  readonly startCookiesAt: (host: string) => readonly Pick<StartCookies, 'clearAll'>[];
  readonly absoluteLifetimeMs: number;
  readonly now: () => number;
}

/** The sessions of browsers that hold the web cookie. */
export class BrowserSessions {
  readonly #options: BrowserSessionsOptions;

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /** The user signed in with this browser, or null. Rejects with `cross_site`, `store_unavailable`. */
  async current(exchange: Exchange): Promise<Principal | null> {
    const found = await this.#options.webCookie(exchange);
    return typeof found === 'string' ? null : found;
  }

  /**
   * Gives the browser the cookie of a new session, ends its previous sessions, and leads it to `destination`. Only if that is in
   * the console does it get the refresh cookie, too, which pages of a service on this origin could use. To a named host it leads
   * by the sign-in page again: no response to a form may hold a code.
   */
  async begin(
    exchange: Exchange,
    { session, reply }: SignedIn,
    destination: string | HostDestination,
  ): Promise<Reply> {
    const { area, absoluteLifetimeMs, now } = this.#options;
    for (const id of await this.#sessionsOf(exchange)) if (id !== session.id) await this.#end(exchange, id);
    area.recentSignIns.note(exchange);
    const maxAgeSeconds = Math.ceil((session.created + absoluteLifetimeMs - now()) / 1000);
    const cookie = ['Set-Cookie', setCookie(area.cookie, area.cookies.write(session.id), maxAgeSeconds)];
    if (typeof destination !== 'string') {
      const url = area.site.signIn + returnToQuery(destination);
      return leaving(url, signedInPage(area.site, { host: shownHost(destination), url }), cookie);
    }
    const place = consoleAt(area.console, exchange, destination);
    const isForConsole = place !== null && admits(place, session.method);
    return redirection(303, destination, [...cookie, ...(isForConsole ? (reply.headers ?? []) : [])]);
  }

  /** Headers that make the browser forget its sessions and the sign-ins that it began, names and values in turn. */
  forgetting({ head, host }: Exchange): readonly string[] {
    const { forgetting, startCookiesAt } = this.#options;
    const begun = startCookiesAt(host).flatMap((cookies) => cookies.clearAll(head.cookie));
    return [...forgetting, ...begun];
  }

  /** Ends every session of the browser's cookies; resolves to those that were live. */
  async end(exchange: Exchange): Promise<readonly Session[]> {
    const { area, refresh } = this.#options;
    area.recentSignIns.forget(exchange);
    const values = cookieValues(exchange.head.cookie, refresh.name);
    await refresh.cookies.learnSecretsOf(values);
    const presented = refresh.cookies.validOf(values).map(({ sessionId }) => sessionId);
    const ids = new Set([...(await this.#sessionsOf(exchange)), ...presented]);
    const ended: Session[] = [];
    for (const id of ids) {
      const session = await this.#end(exchange, id);
      if (session !== undefined) ended.push(session);
    }
    return ended;
  }

  #end(exchange: Exchange, id: string): Promise<Session | undefined> {
    return endSession(this.#options.ending, id, originOf(exchange), byItsUser(null));
  }

  async #sessionsOf({ head }: Exchange): Promise<readonly string[]> {
    const { cookie, cookies } = this.#options.area;
    const values = cookieValues(head.cookie, cookie.name);
    await cookies.learnSecretsOf(values);
    return values.map((value) => cookies.read(value)).filter((id) => id !== undefined);
  }
}
