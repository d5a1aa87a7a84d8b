import { timingSafeEqual } from 'node:crypto';
import { signerOf } from '../stores/key-schedule.ts';
import type { SigningKey } from '../stores/signing-key.ts';
import type { KnownKeys } from './known-keys.ts';
import { createMac, type Mac } from './mac.ts';

/** The secrets of cookies, which replace one another. */
export interface CookieSecrets {
  /** The one to write with, then all others; another array whenever they have changed. */
  current(): readonly Uint8Array[];
  /** Resolves once every change of them of which this process was notified is known. */
  fresh(): Promise<void>;
  /** Looks for one that isn't known yet: see {@link KnownKeys.search}. Rejects `store_unavailable`. */
  search(): Promise<void>;
}

/** MACs under the secrets of cookies, for one kind of cookie. */
export interface CookieMacs {
  /** `text` with its tag in base64url behind a dot, under the secret that counts for new cookies. */
  tagged(text: string, fields: readonly string[]): string;
  /** Whether `value` is, byte for byte, what `tagged` gave under any of the secrets. */
  isTagged(value: string, text: string, fields: readonly string[]): boolean;
}

/** Creates the secrets; `keys` are those of the store. Its function throws when there is none. */
export function createCookieSecrets(known: Pick<KnownKeys, 'keys' | 'fresh' | 'search'>): CookieSecrets {
  let stored: readonly SigningKey[] | null = null;
  let secrets: readonly Uint8Array[] = [];
  return {
    fresh: () => known.fresh(),
    search: () => known.search(),
    current() {
      if (stored !== known.keys) {
        secrets = secretsOf(known.keys);
        stored = known.keys;
      }
      return secrets;
    },
  };
}

/** Creates the MACs of a purpose: see {@link createMac}. */
export function createCookieMacs(secrets: CookieSecrets, purpose: string): CookieMacs {
  let made: readonly Uint8Array[] | null = null;
  let macs: readonly Mac[] = [];

  function current(): readonly Mac[] {
    const wanted = secrets.current();
    if (made !== wanted) {
      macs = wanted.map((secret) => createMac(secret, purpose));
      made = wanted;
    }
    return macs;
  }

  const under = (mac: Mac, text: string, fields: readonly string[]) =>
    `${text}.${mac(fields).toString('base64url')}`;

  return {
    tagged: (text, fields) => under(current()[0]!, text, fields),
    isTagged(value, text, fields) {
      const actual = Buffer.from(value, 'latin1');
      // The whole text is compared with the only valid spelling: another encoding of the same MAC is refused.
      return current().some((mac) => {
        const expected = Buffer.from(under(mac, text, fields), 'latin1');
        return actual.length === expected.length && timingSafeEqual(actual, expected);
      });
    },
  };
}

function secretsOf(stored: readonly SigningKey[]): readonly Uint8Array[] {
  const keys = stored.filter(({ purpose }) => purpose === 'cookie');
  const signer = signerOf(keys);
  if (signer === undefined) throw new Error('no secret for cookies');
  const others = keys.filter((key) => key !== signer);
  return [signer, ...others].map(({ privateJwk }) => Buffer.from(JSON.parse(privateJwk).k, 'base64url'));
}
