import { type CookieSecrets, createCookieMacs } from './cookie-macs.ts';

/** Writes and reads the values of the cookie by which browsers are signed in to the pages behind Postern. */
export interface WebCookies {
  /** `<session id>.<MAC>`, the MAC in base64url. */
  write(sessionId: string): string;
  /** Reads a session's id; undefined unless `write` returned the value, byte for byte, under a secret that still counts. */
  read(value: string): string | undefined;
  /**
   * Looks up the secrets under which `values` may have been written: another replica may have a new one. Rejects
   * `store_unavailable`.
   */
  learnSecretsOf(values: readonly string[]): Promise<void>;
  /** Basis of `read`: another object whenever its results may have changed. */
  basis(): unknown;
}

const shape = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/;

/** Creates the codec of one tenant's web cookies. */
export function createWebCookies(options: {
  readonly secrets: CookieSecrets;
  readonly tenant: string;
  /** The cookie's name: a value is invalid under another name. */
  readonly name: string;
}): WebCookies {
  const { tenant, name, secrets } = options;
  const macs = createCookieMacs(secrets, 'postern web cookie 1');

  function write(sessionId: string): string {
    return macs.tagged(sessionId, [tenant, name, sessionId]);
  }

  function read(value: string): string | undefined {
    const [, sessionId] = shape.exec(value) ?? [];
    if (sessionId === undefined) return undefined;
    return macs.isTagged(value, sessionId, [tenant, name, sessionId]) ? sessionId : undefined;
  }

  async function learnSecretsOf(values: readonly string[]): Promise<void> {
    const isUnknown = (value: string) => shape.test(value) && read(value) === undefined;
    if (values.some(isUnknown)) await secrets.search();
  }

  return { write, read, learnSecretsOf, basis: () => secrets.keys };
}
