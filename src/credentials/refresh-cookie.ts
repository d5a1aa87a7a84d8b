import { keptText } from '../http1/message/copied-text.ts';
import { type CookieSecrets, createCookieMacs } from './cookie-macs.ts';

/** The content of a refresh cookie with a valid MAC. */
export interface RefreshCookie {
  /** A UUID in lower case. */
  readonly sessionId: string;
  /** 1 to 2^53-1. */
  readonly generation: number;
}

/** Writes and reads the values of the refresh cookie. */
export interface RefreshCookies {
  /** `<session id>.<generation>.<MAC>`, the MAC in base64url. */
  write(sessionId: string, generation: number): string;
  /**
   * Looks up the secrets under which `values` may have been written: another replica may have a new one. Rejects
   * `store_unavailable`.
   */
  learnSecretsOf(values: readonly string[]): Promise<void>;
  /** Reads a value; undefined unless `write` returned it, byte for byte, under a secret that still counts. */
  read(value: string): RefreshCookie | undefined;
  /** The newest valid cookie of each session, of several that came under the name. */
  newestOf(values: readonly string[]): readonly RefreshCookie[];
  /** All valid cookies, in the same order: a sign-out ends each of their sessions. */
  validOf(values: readonly string[]): readonly RefreshCookie[];
}

const shape = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,15})\.[A-Za-z0-9_-]{43}$/;

/** Creates the codec of one tenant's refresh cookies. */
export function createRefreshCookies(options: {
  readonly secrets: CookieSecrets;
  readonly tenant: string;
  /** The cookie's name: a value is invalid under another name, which would be forwarded to upstreams. */
  readonly name: string;
}): RefreshCookies {
  const { tenant, name } = options;
  const macs = createCookieMacs(options.secrets, 'postern refresh cookie 2');

  function write(sessionId: string, generation: number): string {
    const generationText = String(generation);
    return macs.tagged(`${sessionId}.${generationText}`, [tenant, name, sessionId, generationText]);
  }

  function read(value: string): RefreshCookie | undefined {
    const [, sessionId, generationText] = shape.exec(value) ?? [];
    if (sessionId === undefined || generationText === undefined) return undefined;
    const generation = Number(generationText);
    if (!Number.isSafeInteger(generation)) return undefined;
    const text = `${sessionId}.${generationText}`;
    return macs.isTagged(value, text, [tenant, name, sessionId, generationText])
      ? { sessionId: keptText(sessionId), generation }
      : undefined;
  }

  function validOf(values: readonly string[]): readonly RefreshCookie[] {
    return values.map(read).filter((cookie) => cookie !== undefined);
  }

  function newestOf(values: readonly string[]): readonly RefreshCookie[] {
    const newest = new Map<string, RefreshCookie>();
    for (const cookie of validOf(values)) {
      const known = newest.get(cookie.sessionId);
      if (known === undefined || cookie.generation > known.generation) newest.set(cookie.sessionId, cookie);
    }
    return [...newest.values()];
  }

  async function learnSecretsOf(values: readonly string[]): Promise<void> {
    await options.secrets.catchUp();
    const isUnknown = (value: string) => shape.test(value) && read(value) === undefined;
    if (values.some(isUnknown)) await options.secrets.search();
  }

  return { write, read, newestOf, validOf, learnSecretsOf };
}
