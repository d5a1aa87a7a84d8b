import { timingSafeEqual } from 'node:crypto';
import { signerOf } from '../stores/key-schedule.ts';
import type { SigningKey } from '../stores/signing-keys.ts';
import { createMac, type Mac } from './mac.ts';
import type { KnownKeys } from './signing-keys.ts';

/** The store's keys, of which those of purpose `cookie` are the secrets of cookies. */
export type CookieSecrets = Pick<KnownKeys, 'keys' | 'catchUp' | 'search'>;

/** Settings of one cookie's values. */
export interface SignedCookieOptions {
  readonly secrets: CookieSecrets;
  readonly tenant: string;
  /** The cookie's name. A value is invalid under any other name, because cookies with other names are forwarded to upstreams. */
  readonly name: string;
}

/** Writes and reads values that are authenticated under the secrets of cookies. */
export interface SignedCookie {
  /** Joins the parts and their MAC, in base64url under the secret for new cookies, by dots; throws while there is no secret. */
  write(...parts: readonly string[]): string;
  /** Reads the parts; undefined unless `write` returned the value, byte for byte, under a secret that still counts. */
  read(value: string): readonly string[] | undefined;
  /**
   * Looks up the secrets under which `values` may have been written: another replica may have a new one. Rejects with
   * `store_unavailable`.
   */
  learnSecretsOf(values: readonly string[]): Promise<void>;
}

/** A cookie whose values may be bound to a place, which is authenticated with them but not in them. */
export interface BoundCookie extends SignedCookie {
  /** The same cookie at one place: a value that was written at any other is invalid. */
  at(place: string): SignedCookie;
}

/** Creates the codec of a cookie's values; `purpose` as for {@link createMac}; `shape` matches a value and captures its parts. */
export function createSignedCookie(
  { secrets, tenant, name }: SignedCookieOptions,
  purpose: string,
  shape: RegExp,
): BoundCookie {
  let madeFrom: readonly SigningKey[] | null = null;
  let macs: readonly Mac[] = [];

  function currentMacs(): readonly Mac[] {
    if (madeFrom !== secrets.keys) {
      macs = secretsOf(secrets.keys).map((secret) => createMac(secret, purpose));
      madeFrom = secrets.keys;
    }
    return macs;
  }

  function valueUnder(mac: Mac, parts: readonly string[], place: readonly string[]): string {
    return `${parts.join('.')}.${mac([tenant, name, ...parts, ...place]).toString('base64url')}`;
  }

  function readAt(place: readonly string[], value: string): readonly string[] | undefined {
    const match = shape.exec(value);
    if (match === null) return undefined;
    const parts = match.slice(1);
    const actual = Buffer.from(value, 'latin1');
    // The whole text is compared with the only valid spelling: another encoding of the same MAC is refused.
    const isOurs = currentMacs().some((mac) => {
      const expected = Buffer.from(valueUnder(mac, parts, place), 'latin1');
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    });
    return isOurs ? parts : undefined;
  }

  const at = (place: readonly string[]): SignedCookie => ({
    write: (...parts) => valueUnder(currentMacs()[0]!, parts, place),
    read: (value) => readAt(place, value),
    async learnSecretsOf(values) {
      const isUnknown = (value: string) => shape.test(value) && readAt(place, value) === undefined;
      if (values.some(isUnknown)) await secrets.search();
    },
  });
  return { ...at([]), at: (place) => at([place]) };
}

/** The secret that signs, then all others. Throws if there is none. */
function secretsOf(stored: readonly SigningKey[]): readonly Uint8Array[] {
  const keys = stored.filter(({ purpose }) => purpose === 'cookie');
  const signer = signerOf(keys);
  if (signer === undefined) throw new Error('no secret for cookies');
  const others = keys.filter((key) => key !== signer);
  return [signer, ...others].map(({ privateJwk }) => Buffer.from(JSON.parse(privateJwk).k, 'base64url'));
}
