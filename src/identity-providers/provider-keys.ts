import type { KeyObject } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type CachedDocument, createCachedDocument } from './cached-document.ts';
import type { ProviderMetadata } from './discovery.ts';
import { chooseKey, parseKeySet } from './key-set.ts';
import { type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';

/** The keys of one provider. */
export interface ProviderKeys {
  /**
   * Finds the key for a header. For an unknown key the keys are fetched again at once, then at most once in 30 s over all
   * callers.
   *
   * Rejects with {@link Refusal} `invalid_assertion` if the provider has no such key, `provider_unavailable` if its keys can't be
   * fetched.
   */
  find(header: { readonly alg: string; readonly kid?: string }): Promise<KeyObject>;
}

/** Options of {@link createProviderKeys}. */
export interface ProviderKeysOptions {
  readonly discovery: Pick<CachedDocument<ProviderMetadata>, 'get'>;
  readonly network: Pick<ProviderNetwork, 'getObject'>;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** Age up to which keys are used, ms: older ones may have been withdrawn, and are fetched again first. */
const longestUseMs = 10 * 60_000;

/** Keeps the key set (JWKS) of one provider for ten minutes. */
export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const { discovery, network, now, onFailure } = options;

  async function load() {
    const { jwks_uri } = await discovery.get();
    const keys = parseKeySet(await network.getObject(jwks_uri));
    // A set without keys is a fault, not a rotation: the last usable set is kept.
    if (keys.length === 0) throw new ProviderUnavailable('keys: none usable');
    return keys;
  }

  const keySet = createCachedDocument({
    load,
    now,
    onFailure,
    freshMs: longestUseMs,
    usableMs: longestUseMs,
  });

  return {
    async find(header) {
      const known = await keySet.get();
      const found = chooseKey(known, header) ?? chooseKey(await keySet.renew(known), header);
      if (found === undefined) throw new Refusal('invalid_assertion', { cause: 'no such key' });
      return found.key;
    },
  };
}
