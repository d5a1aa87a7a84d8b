import { createSignedCookie, type SignedCookie, type SignedCookieOptions } from './signed-cookie.ts';

/** Writes and reads the values of the cookie by which browsers are signed in to the pages behind Postern. */
export interface WebCookies extends Pick<SignedCookie, 'learnSecretsOf'> {
  /** `<session id>.<MAC>`, the MAC in base64url. */
  write(sessionId: string): string;
  /** Reads a session's id; undefined unless `write` returned the value, byte for byte, under a secret that still counts. */
  read(value: string): string | undefined;
  /** An object that is replaced whenever the results of `read` may have changed. */
  basis(): unknown;
}

const shape = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/;

/** Writes and reads the values of the cookie by which browsers are signed in at a named host; each counts at its host alone. */
export interface HostCookies {
  /** The codec at a host, by its name in lower case, without port. */
  at(host: string): WebCookies;
}

/** Creates the codec of one tenant's web cookies. */
export function createWebCookies(options: SignedCookieOptions): WebCookies {
  return codecOf(createSignedCookie(options, 'postern web cookie 1', shape), options);
}

/** Creates the codec of one tenant's host cookies. */
export function createHostCookies(options: SignedCookieOptions): HostCookies {
  const cookie = createSignedCookie(options, 'postern host cookie 1', shape);
  return { at: (host) => codecOf(cookie.at(host), options) };
}

function codecOf(cookie: SignedCookie, { secrets }: SignedCookieOptions): WebCookies {
  return {
    write: cookie.write,
    read: (value) => cookie.read(value)?.[0],
    learnSecretsOf: cookie.learnSecretsOf,
    basis: () => secrets.keys,
  };
}
