import { keptText } from '../http1/message/copied-text.ts';
import { createSignedCookie, type SignedCookie, type SignedCookieOptions } from './signed-cookie.ts';

/** The content of a refresh cookie with a valid MAC. */
export interface RefreshCookie {
  /** A UUID in lower case. */
  readonly sessionId: string;
  /** 1 to 2^53-1. */
  readonly generation: number;
}

/** Writes and reads the values of the refresh cookie. */
export interface RefreshCookies extends Pick<SignedCookie, 'learnSecretsOf'> {
  /** `<session id>.<generation>.<MAC>`, the MAC in base64url. */
  write(sessionId: string, generation: number): string;
  /** Reads a value; undefined unless `write` returned it, byte for byte, under a secret that still counts. */
  read(value: string): RefreshCookie | undefined;
  /** The newest valid cookie of each session, among all values that came under the cookie's name. */
  newestOf(values: readonly string[]): readonly RefreshCookie[];
  /** All valid cookies, in the same order: a sign-out ends each of their sessions. */
  validOf(values: readonly string[]): readonly RefreshCookie[];
}

const shape = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,15})\.[A-Za-z0-9_-]{43}$/;

/** Creates the codec of one tenant's refresh cookies. */
export function createRefreshCookies(options: SignedCookieOptions): RefreshCookies {
  const cookie = createSignedCookie(options, 'postern refresh cookie 2', shape);

  function read(value: string): RefreshCookie | undefined {
    const parts = cookie.read(value);
    if (parts === undefined) return undefined;
    const generation = Number(parts[1]);
    return Number.isSafeInteger(generation) ? { sessionId: keptText(parts[0]!), generation } : undefined;
  }

  function validOf(values: readonly string[]): readonly RefreshCookie[] {
    return values.map(read).filter((one) => one !== undefined);
  }

  function newestOf(values: readonly string[]): readonly RefreshCookie[] {
    const newest = new Map<string, RefreshCookie>();
    for (const one of validOf(values)) {
      const known = newest.get(one.sessionId);
      if (known === undefined || one.generation > known.generation) newest.set(one.sessionId, one);
    }
    return [...newest.values()];
  }

  return {
    write: (sessionId, generation) => cookie.write(sessionId, String(generation)),
    read,
    newestOf,
    validOf,
    async learnSecretsOf(values) {
      await options.secrets.catchUp();
      await cookie.learnSecretsOf(values);
    },
  };
}
