import { timingSafeEqual } from 'node:crypto';
import { createMac } from './mac.ts';

/** Writes and reads the values of the cookie by which browsers are signed in to the pages behind Postern. */
export interface WebCookies {
  /** `<session id>.<MAC>`, the MAC in base64url. */
  write(sessionId: string): string;
  /** The session's id; undefined unless it is, byte for byte, a value that `write` returns. */
  read(value: string): string | undefined;
}

const shape = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/;

/** Creates the codec of one tenant's web cookies; `secret` has at least 32 bytes. */
export function createWebCookies(options: {
  readonly secret: Uint8Array;
  readonly tenant: string;
  /** The cookie's name: a value is invalid under another name. */
  readonly name: string;
}): WebCookies {
  const { tenant, name } = options;
  const mac = createMac(options.secret, 'postern web cookie 1');

  function write(sessionId: string): string {
    return `${sessionId}.${mac([tenant, name, sessionId]).toString('base64url')}`;
  }

  function read(value: string): string | undefined {
    const [, sessionId] = shape.exec(value) ?? [];
    if (sessionId === undefined) return undefined;
    // The whole text is compared with the only valid spelling: another encoding of the same MAC is refused.
    const expected = Buffer.from(write(sessionId), 'latin1');
    const actual = Buffer.from(value, 'latin1');
    return actual.length === expected.length && timingSafeEqual(actual, expected) ? sessionId : undefined;
  }

  return { write, read };
}
