import type { ApiKey } from './api-key.ts';
import type { ScopeSet } from './scope-set.ts';
import type { UserRecord } from './user-records.ts';

/** Who will own a new key, and what it will hold. */
export interface WantedApiKey {
  readonly ownerId: string;
  /** Ids. */
  readonly scopeSets: readonly string[];
}

/** Basis on which a new key is judged. */
export interface WantedApiKeyFound {
  /** Undefined once removed. */
  readonly owner: UserRecord | undefined;
  /** The sets it will hold, by id. */
  readonly sets: readonly ScopeSet[];
}

/** A key to be stored. */
export interface NewApiKey {
  readonly key: ApiKey;
  /** The SHA-256 of the raw key. */
  readonly hash: Uint8Array;
}
