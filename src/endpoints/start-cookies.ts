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

/** Cookies that bind sign-ins through a provider to the browser that began them, one per start. */
export interface StartCookies {
  /**
   * Flat header list that sets the cookie of a start, and clears the oldest others beyond eight in all. `now` is epoch
   * ms.
   */
  set(cookieHeader: string, start: SignInStart, now: number): string[];
  /** The values of the cookie of a start. */
  bindings(cookieHeader: string, start: SignInStart): readonly string[];
  /**
   * Flat header list that clears the cookie of a start, if the browser has it, and the oldest others beyond eight: where
   * their path doesn't cover the address of the start, only now can they be seen.
   */
  clear(cookieHeader: string, start: SignInStart): string[];
  /** Flat header list that clears the cookies of all starts that the browser has sent. */
  clearAll(cookieHeader: string): string[];
}

/** Maximum number of starts in a browser: any more are old and were never completed. */
const maxStarts = 8;
const labelLength = 6;
const label = new RegExp(`_[\\w-]{${labelLength}}$`);

/**
 * Creates the start cookies of Postern's own pages, at `origin` and below `path`. A neighbouring host that could set such a
 * cookie would sign people in to its own account: over https browsers let only this host set it.
 */
export function createPageStartCookies(
  { name }: Pick<CookieAttributes, 'name'>,
  origin: string,
  path: string,
): StartCookies {
  const secure = origin.startsWith('https:');
  return createStartCookies(
    { name: hostOnlyName(name, secure), secure, sameSite: 'lax' },
    `${path}/callback`,
  );
}

/** Creates the cookies with the attributes of the refresh cookie but its path; no other host gets them. */
export function createStartCookies(
  { name, secure, sameSite }: Pick<CookieAttributes, 'name' | 'secure' | 'sameSite'>,
  wantedPath = '/api/login',
): StartCookies {
  const prefix = startCookiePrefix(name);
  // Browsers drop a __Host- cookie with another path (draft-ietf-httpbis-rfc6265bis §4.1.3.2).
  const path = /^__host-/i.test(name) ? '/' : wantedPath;

  function header(of: string, value: string, maxAgeSeconds: number): string[] {
    return [
      'Set-Cookie',
      setCookie({ name: of, path, domain: null, secure, sameSite }, value, maxAgeSeconds),
    ];
  }

  /** Clears the oldest cookies of starts other than `own`, so that no more than `most` stay. */
  function clearOldest(cookieHeader: string, own: string, most: number): string[] {
    const others = [...cookiesWithPrefix(cookieHeader, prefix)].filter(
      ([other]) => other !== own && label.test(other) && other.length === own.length,
    );
    const tooMany = Math.max(0, others.length - most);
    const oldest = others.sort(([, one], [, other]) => begunAt(one) - begunAt(other)).slice(0, tooMany);
    return oldest.flatMap(([other]) => header(other, '', 0));
  }

  return {
    set(cookieHeader, start, now) {
      const own = prefix + start.label;
      const maxAgeSeconds = Math.ceil((start.expires - now) / 1000);
      return [
        ...header(own, `${now.toString(36)}.${start.binding}`, maxAgeSeconds),
        ...clearOldest(cookieHeader, own, maxStarts - 1),
      ];
    },

    bindings: (cookieHeader, start) =>
      cookieValues(cookieHeader, prefix + start.label).map((value) => value.slice(value.indexOf('.') + 1)),

    clear(cookieHeader, start) {
      const own = prefix + start.label;
      const held = cookieValues(cookieHeader, own).length > 0;
      return [...(held ? header(own, '', 0) : []), ...clearOldest(cookieHeader, own, maxStarts)];
    },

    clearAll: (cookieHeader) =>
      [...cookiesWithPrefix(cookieHeader, prefix).keys()]
        .filter((sent) => label.test(sent) && sent.length === prefix.length + labelLength)
        .flatMap((sent) => header(sent, '', 0)),
  };
}

/**
 * When the start of a cookie began, epoch ms: the part before the binding. 0, the oldest, for a cookie that isn't ours.
 */
function begunAt(value: string): number {
  const [, begun] = /^([0-9a-z]{1,10})\./.exec(value) ?? [];
  return begun === undefined ? 0 : Number.parseInt(begun, 36);
}
