import type { KeyObject } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type CachedDocument, createCachedDocument } from './cached-document.ts';
import type { ProviderMetadata } from './discovery.ts';
import { chooseKey, parseKeySet } from './key-set.ts';
import { type ProviderNetwork, providerUnavailable } from './provider-network.ts';

/** The keys of one provider. */
export interface ProviderKeys {
  /**
   * The key that a header names. One that is not known is looked for anew, once in 30 s whoever asks.
   *
   * Rejects with {@link Refusal} `invalid_assertion` when the provider has no such key, `store_unavailable` when no key
   * of the provider can be had at all.
   */
  find(header: { readonly alg: string; readonly kid?: string }): Promise<KeyObject>;
}

/** What the keys are made of. */
export interface ProviderKeysOptions {
  readonly discovery: Pick<CachedDocument<ProviderMetadata>, 'get'>;
  readonly network: Pick<ProviderNetwork, 'getObject'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Told of every failed load. */
  readonly onFailure: (error: unknown) => void;
}

/** Keeps the key set (JWKS) of one provider: renewed after an hour, used for a day while the provider is away. */
export function createProviderKeys(options: ProviderKeysOptions): ProviderKeys {
  const { discovery, network, now, onFailure } = options;

  async function load() {
    const { jwks_uri } = await discovery.get();
    const keys = parseKeySet(await network.getObject(jwks_uri));
    // A set without keys is no rotation, it is a fault: the last good one is worth more.
    if (keys.length === 0) throw providerUnavailable('keys: none usable');
    return keys;
  }

  const keySet = createCachedDocument({ load, now, onFailure });

  return {
    async find(header) {
      const found = chooseKey(await keySet.get(), header) ?? chooseKey(await keySet.renew(), header);
      if (found === undefined) throw new Refusal('invalid_assertion', { cause: 'no such key' });
      return found.key;
    },
  };
}
