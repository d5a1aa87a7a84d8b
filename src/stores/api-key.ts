import type { ListPage } from './list-query.ts';
import type { ScopeSet } from './scope-set.ts';
import type { User, UserHoldings } from './user.ts';

/** An API key at rest: never the key, its hash alone. */
export interface ApiKey {
  readonly id: string;
  readonly label: string;
  /** `<prefix>_` and four characters. */
  readonly hint: string;
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  readonly created: number;
  /** Id of the user who minted it; the user may be gone. */
  readonly createdBy: string;
  /** Id of the key it was minted with; that key may be gone. */
  readonly parent: string | null;
  /** Id of the session it was minted with; null for other ways, and where nobody knows. */
  readonly session: string | null;
  readonly expires: number | null;
  readonly lastUsed: number | null;
}

/** A key with what its presentation needs beside it, read in one consistent step. */
export interface ListedApiKey {
  readonly key: ApiKey;
  /** The user of `createdBy`, or null once removed. */
  readonly owner: Pick<User, 'id' | 'username' | 'disabled'> | null;
  /** The sets of `key.scopeSets`, the built-in one included. */
  readonly sets: readonly ScopeSet[];
}

/** A key with what a principal needs beside it: what its owner holds bounds it. Read in one consistent step. */
export interface ApiKeyWithOwner extends ListedApiKey {
  readonly owner:
    | (Pick<User, 'id' | 'username' | 'displayName' | 'email' | 'disabled'> & UserHoldings)
    | null;
}

/** One page of the key list. */
export type ApiKeyPage = ListPage<ListedApiKey>;
