import { timingSafeEqual } from 'node:crypto';
import { signerOf } from '../stores/key-schedule.ts';
import type { SigningKey } from '../stores/signing-keys.ts';
import { createMac, type Mac } from './mac.ts';
import type { KnownKeys } from './signing-keys.ts';

/** The store's keys, of which those of purpose `cookie` are the secrets of cookies. */
export type CookieSecrets = Pick<KnownKeys, 'keys' | 'catchUp' | 'search'>;

/** MACs under the secrets of cookies, for one kind of cookie. */
export interface CookieMacs {
  /** `text` with its tag in base64url behind a dot, under the secret that counts for new cookies. */
  tagged(text: string, fields: readonly string[]): string;
  /** True if `value` is, byte for byte, what `tagged` returned under any of the secrets. */
  isTagged(value: string, text: string, fields: readonly string[]): boolean;
}

/** Creates the MACs of a purpose: see {@link createMac}. They throw while no secret signs. */
export function createCookieMacs(secrets: CookieSecrets, purpose: string): CookieMacs {
  let madeFrom: readonly SigningKey[] | null = null;
  let macs: readonly Mac[] = [];

  function current(): readonly Mac[] {
    if (madeFrom !== secrets.keys) {
      macs = secretsOf(secrets.keys).map((secret) => createMac(secret, purpose));
      madeFrom = secrets.keys;
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

/** The secret that signs, then all others. */
function secretsOf(stored: readonly SigningKey[]): readonly Uint8Array[] {
  const keys = stored.filter(({ purpose }) => purpose === 'cookie');
  const signer = signerOf(keys);
  if (signer === undefined) throw new Error('no secret for cookies');
  const others = keys.filter((key) => key !== signer);
  return [signer, ...others].map(({ privateJwk }) => Buffer.from(JSON.parse(privateJwk).k, 'base64url'));
}
