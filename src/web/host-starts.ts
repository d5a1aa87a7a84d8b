import { createHash, randomBytes } from 'node:crypto';
import { hostStartCookiePrefix } from '../endpoints/start-cookies.ts';
import { type CookieAttributes, cookiesWithPrefix, cookieValues, setCookie } from '../http/cookies.ts';

/** Lifetime of a start, in seconds. */
const lifetimeSeconds = 3600;
/** Maximum number of starts in a browser at a host: any more are old and were never completed. */
const maxStarts = 8;
const labelLength = 6;
const label = /^[\w-]{6}$/;
const valueBytes = 32;
const written = /^[\w-]{43}$/;

/** True if a text may be the hash of a start. */
export function isStartHash(text: string): boolean {
  return written.test(text);
}

/**
 * Cookies with which a browser begins to enter a named host, one per start. Their values are random, and only their hashes leave
 * the host: a code for a hash counts in the browser alone that has the value.
 */
export class HostStarts {
  readonly #attributes: CookieAttributes;
  readonly #prefix: string;

  /** `hostCookie`: the cookie whose attributes these have, too. */
  constructor(hostCookie: CookieAttributes) {
    this.#attributes = hostCookie;
    this.#prefix = hostStartCookiePrefix(hostCookie);
  }

  /** Begins a start: its hash, and a flat header list that sets its cookie and clears the oldest others beyond eight in all. */
  begin(cookieHeader: string): { readonly hash: string; readonly headers: readonly string[] } {
    const value = randomBytes(valueBytes).toString('base64url');
    const hash = hashOf(value);
    const name = this.#nameOf(hash);
    const others = this.#sent(cookieHeader).filter((other) => other !== name);
    // Browsers send the oldest first (RFC 6265 §5.4).
    const oldest = others.slice(0, Math.max(0, others.length - (maxStarts - 1)));
    return { hash, headers: [...this.#header(name, value, lifetimeSeconds), ...this.#clear(oldest)] };
  }

  /** True if the browser has the cookie of the start with that hash. */
  has(cookieHeader: string, hash: string): boolean {
    const values = cookieValues(cookieHeader, this.#nameOf(hash));
    return values.some((value) => written.test(value) && hashOf(value) === hash);
  }

  /** Flat header list that clears the cookie of a start. */
  clear(hash: string): readonly string[] {
    return this.#clear([this.#nameOf(hash)]);
  }

  /** Flat header list that clears the cookies of all starts that the browser has sent. */
  clearAll(cookieHeader: string): readonly string[] {
    return this.#clear(this.#sent(cookieHeader));
  }

  #nameOf(hash: string): string {
    return this.#prefix + hash.slice(0, labelLength);
  }

  /** Names of the cookies of starts that the browser has sent, in the order of the header. */
  #sent(cookieHeader: string): readonly string[] {
    const names = [...cookiesWithPrefix(cookieHeader, this.#prefix).keys()];
    return names.filter((name) => label.test(name.slice(this.#prefix.length)));
  }

  #clear(names: readonly string[]): readonly string[] {
    return names.flatMap((name) => this.#header(name, '', 0));
  }

  #header(name: string, value: string, maxAgeSeconds: number): readonly string[] {
    return ['Set-Cookie', setCookie({ ...this.#attributes, name }, value, maxAgeSeconds)];
  }
}

/** SHA-256 of the value as it stands, in base64url without padding. */
function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}
