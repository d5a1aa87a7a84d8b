import type { Comparison, ListPosition, ListQuery } from './list-query.ts';

/** The fields that keys are sorted by. */
export type ApiKeySortField = 'created' | 'label' | 'expires' | 'last_used';
export type ApiKeyStatus = 'active' | 'expired' | 'suspended';

/** Filters of the key list; all must hold. Instants are epoch milliseconds. */
export interface ApiKeyFilters {
  /** ASCII case-insensitive. */
  readonly labelContains?: string;
  readonly labelEq?: string;
  /** A null `expires` is the far future, a null `last_used` the far past. */
  readonly instants?: readonly {
    readonly field: 'created' | 'expires' | 'last_used';
    readonly comparison: Comparison;
    readonly value: number;
  }[];
  readonly expiresIsNull?: boolean;
  readonly lastUsedIsNull?: boolean;
  /** The key's own scopes contain all of these. */
  readonly scopesContain?: readonly string[];
  readonly createdByEq?: string;
  readonly statusEq?: ApiKeyStatus;
}

/** A position in the order of the key list. */
export type ApiKeyPosition = ListPosition;

/** A query for one page of the key list. */
export interface ApiKeyQuery extends ListQuery<ApiKeySortField, ApiKeyFilters> {
  /** The instant against which `expired` is judged, epoch ms. */
  readonly now: number;
}
