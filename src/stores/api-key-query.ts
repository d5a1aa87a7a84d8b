/** What keys are listed by. */
export type ApiKeySortField = 'created' | 'label' | 'expires' | 'last_used';
export type ApiKeyStatus = 'active' | 'expired' | 'suspended';
export type Comparison = 'gt' | 'gte' | 'lt' | 'lte';

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

/** A place in the order of a list: the sort value and id of an item; the null of a field is its far end. */
export interface ApiKeyPosition {
  readonly value: number | string | null;
  readonly id: string;
}

export interface ApiKeyQuery {
  readonly sortBy: ApiKeySortField;
  readonly sortOrder: 'asc' | 'desc';
  readonly filters: ApiKeyFilters;
  /** Items strictly after this place in the order (or before it, when `backwards`). Absent: from the end it starts at. */
  readonly from?: ApiKeyPosition;
  /** With `from`: the item at that place, if still there, counts too. */
  readonly inclusive?: boolean;
  /** Read towards the start; items are still given in list order. */
  readonly backwards?: boolean;
  /** How many at most. */
  readonly size: number;
  /** The instant against which `expired` is judged, epoch ms. */
  readonly now: number;
}
