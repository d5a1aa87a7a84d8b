import { Refusal } from '../errors.ts';
import { isBasic, parseBasic } from '../http/basic-credentials.ts';
import type { Exchange } from '../http/exchange.ts';
import { assertNotMadeByOtherPage } from '../http/foreign-page.ts';
import type { IsKnownOriginAt } from '../http/named-hosts.ts';
import type { OwnCredentials } from './own-credentials.ts';

/** Reads API keys from `Authorization: Basic`, for programs that know nothing else. */
export interface BasicKeys {
  /** True if Basic holds a key of this tenant, in whichever place. */
  holdsKey(authorization: string): boolean;
  /**
   * The key that a request sends as the password, or as the user name if the password is empty. Refuses with `cross_site` what a
   * page of another origin may have a browser send, and with `invalid_api_key` a key in any other place.
   */
  keyOf(exchange: Exchange): string;
}

/**
 * Creates the reader. `isOwnOrigin` is true for Postern's own origins, and on a named host for that alone; those of
 * `cors.origins` don't count.
 */
export function createBasicKeys(
  own: Pick<OwnCredentials, 'heldIn' | 'beginsKey'>,
  isOwnOrigin: IsKnownOriginAt,
): BasicKeys {
  return {
    holdsKey: (authorization) => isBasic(authorization) && own.heldIn(authorization) === 'key',
    keyOf(exchange) {
      const { namedHost } = exchange;
      assertNotMadeByOtherPage(exchange, (origin) => isOwnOrigin(origin, namedHost));
      const { userName, password } = parseBasic(exchange.head.authorization) ?? none;
      const key = password === '' ? userName : password;
      if (!own.beginsKey(key)) throw new Refusal('invalid_api_key', { reason: 'api key malformed' });
      exchange.isByBasic = true;
      return key;
    },
  };
}

const none = { userName: '', password: '' };
