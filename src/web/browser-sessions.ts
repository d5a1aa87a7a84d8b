import type { WebCookieAuthenticator } from '../authenticate/web-cookie.ts';
import type { Principal } from '../credentials/principal.ts';
import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import { byItsUser, type EndSession } from '../endpoints/end-session.ts';
import type { SignedIn } from '../endpoints/sign-in.ts';
import type { StartCookies } from '../endpoints/start-cookies.ts';
import { cookieValues, setCookie } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { Session } from '../stores/sessions.ts';
import { redirection, type WebArea } from './area.ts';
import { admits, consoleAt } from './console.ts';

/** What browsers' sessions are built from. */
export interface BrowserSessionsOptions {
  readonly area: Pick<WebArea, 'console' | 'cookie' | 'cookies' | 'recentSignIns'>;
  readonly webCookie: WebCookieAuthenticator;
  readonly endSession: EndSession;
  /** Of the refresh cookie. */
  readonly refresh: { readonly name: string; readonly cookies: RefreshCookies };
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
  /** The cookies of sign-ins that a browser may have begun at that host. */
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

  /** Who is signed in with this browser. Rejects with `cross_site`, `store_unavailable`. */
  async current({ head, method }: Exchange): Promise<Principal | null> {
    const found = await this.#options.webCookie(head, method);
    return typeof found === 'string' ? null : found;
  }

  /**
   * Hands a new session to the browser, whose previous one ends, and leads it on. Only towards the console it gets the
   * refresh cookie as well: what a service serves on this origin could use it, too.
   */
  async begin(exchange: Exchange, { session, reply }: SignedIn, location: string): Promise<Reply> {
    const { area, endSession, absoluteLifetimeMs, now } = this.#options;
    for (const id of await this.#sessionsOf(exchange))
      if (id !== session.id) await endSession(exchange, id, byItsUser(null));
    area.recentSignIns.note(exchange);
    const maxAgeSeconds = Math.ceil((session.created + absoluteLifetimeMs - now()) / 1000);
    const cookie = setCookie(area.cookie, area.cookies.write(session.id), maxAgeSeconds);
    const place = consoleAt(area.console, exchange, location);
    const isForConsole = place !== null && admits(place, session.method);
    return redirection(303, location, ['Set-Cookie', cookie, ...(isForConsole ? (reply.headers ?? []) : [])]);
  }

  /** Headers by which this browser forgets its sessions and the sign-ins it began, names and values in turn. */
  forgetting({ head }: Exchange): readonly string[] {
    const { forgetting, startCookiesAt } = this.#options;
    const begun = startCookiesAt(head.host).flatMap((cookies) => cookies.clearAll(head.cookie));
    return [...forgetting, ...begun];
  }

  /** Ends every session that this browser has a cookie of; gives those that were alive. */
  async end(exchange: Exchange): Promise<readonly Session[]> {
    const { area, refresh, endSession } = this.#options;
    area.recentSignIns.forget(exchange);
    const values = cookieValues(exchange.head.cookie, refresh.name);
    await refresh.cookies.learnSecretsOf(values);
    const presented = refresh.cookies.validOf(values).map(({ sessionId }) => sessionId);
    const ids = new Set([...(await this.#sessionsOf(exchange)), ...presented]);
    const ended: Session[] = [];
    for (const id of ids) {
      const session = await endSession(exchange, id, byItsUser(null));
      if (session !== undefined) ended.push(session);
    }
    return ended;
  }

  async #sessionsOf({ head }: Exchange): Promise<readonly string[]> {
    const { cookie, cookies } = this.#options.area;
    const values = cookieValues(head.cookie, cookie.name);
    await cookies.learnSecretsOf(values);
    return values.map((value) => cookies.read(value)).filter((id) => id !== undefined);
  }
}
