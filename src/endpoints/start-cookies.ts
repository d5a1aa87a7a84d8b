import {
  type CookieAttributes,
  cookiesWithPrefix,
  cookieValues,
  hostOnlyName,
  setCookie,
} from '../http/cookies.ts';
import type { SignInStart } from '../identity-providers/sign-in-start.ts';

/** Prefix of the names of cookies that bind sign-ins to browsers; the label of a start follows. */
export function startCookiePrefix(refreshCookieName: string): string {
  return `${refreshCookieName}_login_`;
}

/** As {@link startCookiePrefix}, for starts on Postern's own pages at `origin`. */
export function pageStartCookiePrefix(refreshCookieName: string, origin: string): string {
  return startCookiePrefix(hostOnlyName(refreshCookieName, origin.startsWith('https:')));
}

/** Prefix of the names of the cookies with which a browser begins to enter a named host; six characters of a hash follow. */
export function hostStartCookiePrefix({ name }: Pick<CookieAttributes, 'name'>): string {
  return `${name.replace(/_at$/, '')}_start_`;
}

/** Maximum number of starts in a browser: any more are old and were never completed. */
const maxStarts = 8;
const labelLength = 6;
const label = new RegExp(`_[\\w-]{${labelLength}}$`);

/**
 * Creates the start cookies of Postern's own pages, at `origin` and below `path`. A neighbouring host that could set such a
 * cookie could sign people in to an account of its own, so over https the name is one that browsers let only this host set.
 */
export function createPageStartCookies(
  { name }: Pick<CookieAttributes, 'name'>,
  origin: string,
  path: string,
): StartCookies {
  const secure = origin.startsWith('https:');
  return new StartCookies({ name: hostOnlyName(name, secure), secure, sameSite: 'lax' }, `${path}/callback`);
}

/** Creates the start cookies of sign-ins that front ends begin at the API. */
export function createApiStartCookies(
  cookie: Pick<CookieAttributes, 'name' | 'secure' | 'sameSite'>,
  apiPath: string,
): StartCookies {
  return new StartCookies(cookie, `${apiPath}/login`);
}

/** Cookies that bind sign-ins through a provider to the browser that began them, one per start; no other host receives them. */
export class StartCookies {
  readonly #attributes: Omit<CookieAttributes, 'name'>;
  readonly #prefix: string;

  /** Takes the attributes of the refresh cookie, except for its path. */
  constructor(
    { name, secure, sameSite }: Pick<CookieAttributes, 'name' | 'secure' | 'sameSite'>,
    wantedPath: string,
  ) {
    // Browsers drop a __Host- cookie with another path (draft-ietf-httpbis-rfc6265bis §4.1.3.2).
    const path = /^__host-/i.test(name) ? '/' : wantedPath;
    this.#attributes = { path, domain: null, secure, sameSite };
    this.#prefix = startCookiePrefix(name);
  }

  /** Flat header list that sets the cookie of a start, and clears the oldest others beyond eight in all. `now` is epoch ms. */
  set(cookieHeader: string, start: SignInStart, now: number): string[] {
    const own = this.#prefix + start.label;
    const maxAgeSeconds = Math.ceil((start.expires - now) / 1000);
    return [
      ...this.#header(own, `${now.toString(36)}.${start.binding}`, maxAgeSeconds),
      ...this.#clearOldest(cookieHeader, own, maxStarts - 1),
    ];
  }

  /** The values of the cookie of a start. */
  bindings(cookieHeader: string, start: SignInStart): readonly string[] {
    const values = cookieValues(cookieHeader, this.#prefix + start.label);
    return values.map((value) => value.slice(value.indexOf('.') + 1));
  }

  /**
   * Flat header list that clears the cookie of a start, if the browser has it, and the oldest others beyond eight: browsers may
   * not send these to the address of the start, so `set` may not have seen them.
   */
  clear(cookieHeader: string, start: SignInStart): string[] {
    const own = this.#prefix + start.label;
    const held = cookieValues(cookieHeader, own).length > 0;
    const cleared = held ? this.#header(own, '', 0) : [];
    return [...cleared, ...this.#clearOldest(cookieHeader, own, maxStarts)];
  }

  /** Flat header list that clears the cookies of all starts that the browser has sent. */
  clearAll(cookieHeader: string): string[] {
    return this.#sent(cookieHeader).flatMap(([name]) => this.#header(name, '', 0));
  }

  /** Clears the oldest cookies of starts other than `own`, so that no more than `most` stay. */
  #clearOldest(cookieHeader: string, own: string, most: number): string[] {
    const others = this.#sent(cookieHeader).filter(([other]) => other !== own);
    const tooMany = Math.max(0, others.length - most);
    const oldest = others.sort(([, one], [, other]) => begunAt(one) - begunAt(other)).slice(0, tooMany);
    return oldest.flatMap(([other]) => this.#header(other, '', 0));
  }

  /** The cookies of starts that the browser has sent, by name. */
  #sent(cookieHeader: string): [string, string][] {
    return [...cookiesWithPrefix(cookieHeader, this.#prefix)].filter(
      ([name]) => label.test(name) && name.length === this.#prefix.length + labelLength,
    );
  }

  #header(name: string, value: string, maxAgeSeconds: number): string[] {
    return ['Set-Cookie', setCookie({ name, ...this.#attributes }, value, maxAgeSeconds)];
  }
}

/** Time at which the start of a cookie began, epoch ms (the part before the binding); 0, the oldest, if the cookie isn't ours. */
function begunAt(value: string): number {
  const [, begun] = /^([0-9a-z]{1,10})\./.exec(value) ?? [];
  return begun === undefined ? 0 : Number.parseInt(begun, 36);
}
