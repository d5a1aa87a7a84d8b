import type { FieldFilter, ListQuery } from './list-query.ts';
import type { ScopeSet } from './scope-set.ts';
import type { SessionOrigin } from './session-origin.ts';
import type { User, UserHoldings } from './user.ts';

/** An API key at rest: never the key itself, only its hash. */
export interface ApiKey {
  readonly id: string;
  readonly label: string;
  /** `<prefix>_` and four characters. */
  readonly hint: string;
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  readonly created: number;
  /** Id of the user who minted it; the user may have been removed. */
  readonly createdBy: string;
  /** Id of the key it was minted with; that key may have been deleted. */
  readonly parent: string | null;
  /** Id of the session it was minted with; null if it was minted in another way, or this is unknown. */
  readonly session: string | null;
  /**
   * The origin of the session in which the owner minted the key, or of the key with which it was minted: a provider's grants to
   * the owner count for a key of that origin. Null for any other key, including a transferred one.
   */
  readonly origin: SessionOrigin | null;
  readonly expires: number | null;
  readonly lastUsed: number | null;
}

/** A key with everything needed to show it, read in one consistent step. */
export interface ListedApiKey {
  readonly key: ApiKey;
  /** The user of `createdBy`, or null once removed. */
  readonly owner: Pick<User, 'id' | 'username' | 'disabled'> | null;
  /** The sets of `key.scopeSets`, the built-in one included. */
  readonly sets: readonly ScopeSet[];
  /** Increases with every write that changes the key; uses are no change. */
  readonly version: number;
}

/**
 * A key with everything a principal needs, including the holdings of its owner, which bound it; read in one consistent
 * step.
 */
export interface ApiKeyWithOwner extends ListedApiKey {
  readonly owner:
    | (Pick<User, 'id' | 'username' | 'displayName' | 'email' | 'disabled'> & UserHoldings)
    | null;
}

/** Id and label of a deleted key, for the audit. */
export type RemovedApiKey = Pick<ApiKey, 'id' | 'label'>;

/** The fields that keys are sorted by. */
export type ApiKeySortField = 'created' | 'label' | 'expires' | 'last_used';
export type ApiKeyStatus = 'active' | 'expired' | 'suspended';

/**
 * The fields that keys are filtered by. Instants are epoch milliseconds: a null `expires` is the far future, a null `last_used`
 * the far past. `scopes` are the key's own, `created_by` is an id, and `status` an {@link ApiKeyStatus}.
 */
export type ApiKeyFilterField = ApiKeySortField | 'scopes' | 'created_by' | 'status';

/** A query for one page of the key list. */
export interface ApiKeyQuery extends ListQuery<ApiKeySortField, readonly FieldFilter<ApiKeyFilterField>[]> {
  /** The instant against which `expired` is judged, epoch ms. */
  readonly now: number;
}
