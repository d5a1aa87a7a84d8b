import type { FieldFilter, ListQuery } from './list-query.ts';
import type { ScopeSet } from './scope-set.ts';
import type { SessionOrigin } from './session-origin.ts';
import type { User, UserHoldings } from './user.ts';

/** An API key as stored, except for its hash; the key itself is never stored. Instants are epoch milliseconds. */
export interface ApiKey {
  readonly id: string;
  readonly label: string;
  /** Beginning of the key: its prefix, `_` and four more characters. */
  readonly hint: string;
  /** Sorted. */
  readonly scopes: readonly string[];
  readonly scopeSets: readonly string[];
  readonly created: number;
  /** Id of the owner: the user who minted the key, or received it in a transfer. The user may have been removed. */
  readonly createdBy: string;
  /** Id of the key it was minted with, which may have been deleted; null: it was minted without a key. */
  readonly parent: string | null;
  /** Id of the session it was minted in; null: it was minted without a session, or the session is unknown. */
  readonly session: string | null;
  /**
   * The sign-in at a provider from which the key descends: that of the session it was minted in, or of the key it was minted
   * with. The provider's grants to the owner count for such a key. Null for any other key, including a transferred one.
   */
  readonly origin: SessionOrigin | null;
  readonly expires: number | null;
  readonly lastUsed: number | null;
}

/** A key with everything that is shown of it, read in one consistent step. */
export interface ListedApiKey {
  readonly key: ApiKey;
  /** The user whose id is `createdBy`; null once removed. */
  readonly owner: Pick<User, 'id' | 'username' | 'disabled'> | null;
  /** The sets of `key.scopeSets`, the built-in one included. */
  readonly sets: readonly ScopeSet[];
  /** Increases with every change to the key; a use is not a change. */
  readonly version: number;
}

/**
 * A key with everything that a principal needs, including the owner's holdings, which limit those of the key; read in one
 * consistent step.
 */
export interface ApiKeyWithOwner extends ListedApiKey {
  readonly owner:
    | (Pick<User, 'id' | 'username' | 'displayName' | 'email' | 'disabled'> & UserHoldings)
    | null;
}

/** Id and label of a deleted or transferred key, for audit events. */
export type RemovedApiKey = Pick<ApiKey, 'id' | 'label' | 'createdBy'>;

/** The fields that keys are sorted by. */
export type ApiKeySortField = 'created' | 'label' | 'expires' | 'last_used';
export type ApiKeyStatus = 'active' | 'expired' | 'suspended';

/**
 * The fields that keys are filtered by. Instants are epoch milliseconds: a null `expires` is the far future, a null `last_used`
 * the far past. `scopes` are the key's own, `created_by` and `parent` are ids, and `status` an {@link ApiKeyStatus}.
 */
export type ApiKeyFilterField = ApiKeySortField | 'scopes' | 'created_by' | 'parent' | 'status';

/** A query for one page of the key list. */
export interface ApiKeyQuery extends ListQuery<ApiKeySortField, readonly FieldFilter<ApiKeyFilterField>[]> {
  /** The instant against which `expired` is judged, epoch ms. */
  readonly now: number;
}
