import { keyPrefixAt } from './api-key.ts';

/** A kind of credential that this tenant issues. */
export type OwnKind = 'key' | 'token';

/** Finds credentials of this tenant in texts. */
export interface OwnFinder {
  /** The kind of credential that a text holds; a key counts before a token. Null: none. */
  kindIn(text: string): OwnKind | null;
  /** True if a text begins like a key of this tenant. */
  beginsKey(text: string): boolean;
}

const dot = 0x2e;

/** Letters, digits, `_`, `-` and `.`, by their code: the characters of keys and tokens. */
const isOfRun = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_.-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Creates the finder of credentials of this tenant: what begins with the prefix of keys, a key of an earlier prefix, and
 * a JWT of the type and issuer of access tokens, whatever else is wrong with it. A text is searched at the beginning of every run
 * of letters, digits, `_`, `-` and `.`, in a time that is linear in its length.
 */
export function createOwnFinder(options: {
  /** Prefix of new keys. */
  readonly keyPrefix: string;
  /** True for a prefix that a key ever had. */
  readonly isEarlierPrefix: (prefix: string) => boolean;
  /** Issuer of access tokens. */
  readonly issuer: string;
}): OwnFinder {
  const { isEarlierPrefix, issuer } = options;
  const keyStart = `${options.keyPrefix}_`;

  function beginsKey(text: string, start: number): boolean {
    if (text.startsWith(keyStart, start)) return true;
    const prefix = keyPrefixAt(text, start);
    return prefix !== undefined && isEarlierPrefix(prefix);
  }

  function kindIn(text: string): OwnKind | null {
    let found: OwnKind | null = null;
    for (let at = 0; at < text.length; at++) {
      if (isOfRun[text.charCodeAt(at)] !== 1) continue;
      const start = at;
      if (beginsKey(text, start)) return 'key';
      // The end of a JWT's header, and that of its claims (RFC 7515 §3.1).
      let headerEnd = -1;
      let claimsEnd = -1;
      for (; isOfRun[text.charCodeAt(at)] === 1; at++)
        if (text.charCodeAt(at) === dot) {
          if (headerEnd < 0) headerEnd = at;
          else if (claimsEnd < 0) claimsEnd = at;
        }
      if (
        claimsEnd > 0 &&
        isToken(text.slice(start, headerEnd), text.slice(headerEnd + 1, claimsEnd), issuer)
      )
        found = 'token';
    }
    return found;
  }

  return { kindIn, beginsKey: (text) => beginsKey(text, 0) };
}

/** True if a JWT with that header and those claims has the type of access tokens (RFC 9068 §2.1) and the issuer. */
function isToken(header: string, claims: string, issuer: string): boolean {
  const type = memberOf(header, 'typ');
  if (typeof type !== 'string') return false;
  return /^(?:application\/)?at\+jwt$/i.test(type) && memberOf(claims, 'iss') === issuer;
}

/** A member of the JSON object in a part of a JWT; undefined if it is absent, or the part isn't such an object. */
function memberOf(part: string, name: string): unknown {
  const text = Buffer.from(part, 'base64url').toString();
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return (JSON.parse(text) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
