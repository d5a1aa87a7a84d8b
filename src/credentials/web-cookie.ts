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

/** Creates the codec of one tenant's web cookies. */
export function createWebCookies(options: SignedCookieOptions): WebCookies {
  const cookie = createSignedCookie(options, 'postern web cookie 1', shape);
  return {
    write: cookie.write,
    read: (value) => cookie.read(value)?.[0],
    learnSecretsOf: cookie.learnSecretsOf,
    basis: () => options.secrets.keys,
  };
}
