import type { ApiKey, ApiKeyWithOwner } from '../records.ts';
import type { Dialect } from './dialect.ts';
import { parseHeldSets, selectHeldSets } from './held-sets.ts';

/** What {@link selectApiKey} gives for a key. */
export interface ApiKeyRow extends Omit<ApiKey, 'scopes' | 'scopeSets'> {
  readonly scopes: string;
  readonly heldSets: string;
  readonly ownerName: string | null;
  readonly ownerDisabled: number | null;
}

/** SQL that reads keys with owner and sets in one step; `k` is the key. */
export function selectApiKey(dialect: Dialect): string {
  return `SELECT k.id, k.label, k.hint, k.scopes, k.created, k.created_by AS "createdBy",
    k.parent, k.expires, k.last_used AS "lastUsed", u.username AS "ownerName", u.disabled AS "ownerDisabled",
    ${selectHeldSets(dialect, 'api_key_scope_sets', 'key_id', 'k.id')} AS "heldSets"
  FROM api_keys k LEFT JOIN users u ON u.id = k.created_by`;
}

/** The key of a row, with owner and sets. */
export function toApiKey(row: ApiKeyRow): ApiKeyWithOwner;
export function toApiKey(row: ApiKeyRow | undefined): ApiKeyWithOwner | undefined;
export function toApiKey(row: ApiKeyRow | undefined): ApiKeyWithOwner | undefined {
  if (row === undefined) return undefined;
  const { ids, sets } = parseHeldSets(row.heldSets);
  const key: ApiKey = {
    id: row.id,
    label: row.label,
    hint: row.hint,
    scopes: JSON.parse(row.scopes) as string[],
    scopeSets: ids,
    created: row.created,
    createdBy: row.createdBy,
    parent: row.parent,
    expires: row.expires,
    lastUsed: row.lastUsed,
  };
  const owner =
    row.ownerName === null
      ? null
      : { id: row.createdBy, username: row.ownerName, disabled: row.ownerDisabled === 1 };
  return { key, owner, sets };
}
