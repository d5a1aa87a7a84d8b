import type { KeyPrefixes } from '../credentials/key-prefixes.ts';
import { createOwnFinder, type OwnKind } from '../credentials/own-credentials.ts';
import { decodedBasic } from '../http/basic-credentials.ts';

/** Recognises credentials of this tenant, which no application may see, wherever a header's value holds one. */
export interface OwnCredentials {
  /** Follows changes of the prefixes of keys, before the rest is asked; null: there is nothing to wait for. */
  catchUp(): Promise<void> | null;
  /** The kind of credential that a value holds, also in what Basic decodes to; null: none. */
  heldIn(value: string): OwnKind | null;
  /** True if a text begins like a key of this tenant. */
  beginsKey(text: string): boolean;
}

/** Creates the {@link OwnCredentials} of a tenant. `keyPrefix` is that of new keys, `issuer` that of access tokens. */
export function createOwnCredentials(options: {
  readonly keyPrefix: string;
  readonly prefixes: Pick<KeyPrefixes, 'has' | 'catchUp'>;
  readonly issuer: string;
}): OwnCredentials {
  const { keyPrefix, prefixes, issuer } = options;
  const finder = createOwnFinder({ keyPrefix, issuer, isEarlierPrefix: (prefix) => prefixes.has(prefix) });
  return {
    catchUp: () => prefixes.catchUp(),
    heldIn(value) {
      let found = finder.kindIn(value);
      for (const text of decodedBasic(value)) {
        if (found === 'key') return found;
        found = finder.kindIn(text) ?? found;
      }
      return found;
    },
    beginsKey: finder.beginsKey,
  };
}
