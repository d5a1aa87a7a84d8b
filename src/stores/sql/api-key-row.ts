import type { ApiKey, ApiKeyWithOwner, ListedApiKey } from '../api-key.ts';
import type { SessionOrigin } from '../session-origin.ts';
import type { Dialect } from './dialect.ts';
import { parseHeldSets, selectHeldSets } from './held-sets.ts';
import { type HoldingsRow, selectHoldings, toHoldings } from './user-row.ts';

/** A row of {@link selectApiKey}. */
export interface ApiKeyRow extends Omit<ApiKey, 'scopes' | 'scopeSets' | 'origin'> {
  readonly scopes: string;
  /** As stored by {@link originColumn}. */
  readonly origin: string | null;
  readonly version: number;
  readonly heldSets: string;
  readonly ownerName: string | null;
  readonly ownerDisabled: number | null;
}

/** A row of {@link selectApiKeyWithOwner}. */
export interface ApiKeyOwnerRow extends ApiKeyRow, HoldingsRow {
  readonly ownerDisplayName: string | null;
  readonly ownerEmail: string | null;
}

/**
 * SQL that reads keys with their sets and their owner's name in one step; `k` is the key. It does without a join: where
 * PostgreSQL expects few rows to match, it would sort all rows of the join.
 */
export function selectApiKey(dialect: Dialect): string {
  const owner = (column: string) => `(SELECT u.${column} FROM users u WHERE u.id = k.created_by)`;
  return `SELECT ${columns(dialect)}, ${owner('username')} AS "ownerName", ${owner('disabled')} AS "ownerDisabled"
  FROM api_keys k`;
}

/** SQL that reads keys with their sets and everything their owner holds in one step; `k` is the key. */
export function selectApiKeyWithOwner(dialect: Dialect): string {
  const owner = `u.username AS "ownerName", u.disabled AS "ownerDisabled", u.display_name AS "ownerDisplayName",
    u.email AS "ownerEmail", ${selectHoldings(dialect)}`;
  return `SELECT ${columns(dialect)}, ${owner}
  FROM api_keys k LEFT JOIN users u ON u.id = k.created_by`;
}

function columns(dialect: Dialect): string {
  return `k.id, k.label, k.hint, k.scopes, k.created, k.created_by AS "createdBy", k.parent, k.session, k.origin, k.expires,
    k.last_used AS "lastUsed", k.version, ${selectHeldSets(dialect, 'api_key_scope_sets', 'key_id', 'k.id')} AS "heldSets"`;
}

/** Parses a row of {@link selectApiKeyWithOwner}. */
export function toApiKeyWithOwner(row: ApiKeyOwnerRow | undefined): ApiKeyWithOwner | undefined {
  if (row === undefined) return undefined;
  const { owner, ...listed } = toApiKey(row);
  const profile = { displayName: row.ownerDisplayName, email: row.ownerEmail };
  return { ...listed, owner: owner && { ...owner, ...profile, ...toHoldings(row) } };
}

/** Parses a row of {@link selectApiKey}. */
export function toApiKey(row: ApiKeyRow): ListedApiKey {
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
    session: row.session,
    origin: parseOrigin(row.origin),
    expires: row.expires,
    lastUsed: row.lastUsed,
  };
  const owner =
    row.ownerName === null
      ? null
      : { id: row.createdBy, username: row.ownerName, disabled: row.ownerDisabled === 1 };
  return { key, owner, sets, version: row.version };
}

/** The origin of a key as it is stored: issuer, subject and the provider's name, as a JSON array. */
export function originColumn(origin: SessionOrigin | null): string | null {
  return origin === null ? null : JSON.stringify([origin.issuer, origin.subject, origin.provider]);
}

function parseOrigin(column: string | null): SessionOrigin | null {
  if (column === null) return null;
  const [issuer, subject, provider] = JSON.parse(column) as [string, string, string];
  return { issuer, subject, provider };
}
