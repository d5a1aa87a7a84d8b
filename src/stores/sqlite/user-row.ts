import type { User, UserWithSets } from '../records.ts';
import { parseHeldSets, selectHeldSets } from './scope-sets.ts';

/** A user as SQLite gives it. */
export interface UserRow extends Omit<User, 'scopes' | 'scopeSets' | 'disabled'> {
  readonly scopes: string;
  readonly disabled: number;
  readonly ownSets: string;
  readonly heldSets: string;
  readonly grantedScopes: string;
}

/** Selects users with all that is held; a WHERE clause may follow. */
export const selectUser = `SELECT u.id, u.username, u.display_name AS displayName, u.email,
    u.password_hash AS passwordHash, u.scopes, u.disabled, u.created, u.last_login AS lastLogin,
    (SELECT json_group_array(set_id ORDER BY set_id) FROM user_scope_sets WHERE user_id = u.id) AS ownSets,
    ${selectHeldSets('held_scope_sets', 'user_id', 'u.id')} AS heldSets,
    (SELECT json_group_array(g.value) FROM identities i, json_each(i.scopes) g WHERE i.user_id = u.id) AS grantedScopes
  FROM users u`;

/** Inserts a user, without sets. */
export const insertUser = `INSERT INTO users
  (id, username, canonical_name, display_name, email, password_hash, scopes, disabled, created, last_login)
  VALUES (@id, @username, @canonicalName, @displayName, @email, @passwordHash, @scopes, @disabled, @created, @lastLogin)`;

/** Reads a row of {@link selectUser}. */
export function toUserWithSets(row: UserRow): UserWithSets;
export function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined;
export function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined {
  if (row === undefined) return undefined;
  const { ownSets, heldSets, grantedScopes, ...columns } = row;
  const { ids, sets } = parseHeldSets(heldSets);
  const own = JSON.parse(row.scopes) as string[];
  const scopeSets = JSON.parse(ownSets) as string[];
  const scopes =
    grantedScopes === '[]' ? own : [...new Set([...own, ...(JSON.parse(grantedScopes) as string[])])].sort();
  const user = { ...columns, scopes: own, scopeSets, disabled: row.disabled === 1 };
  return { user, scopes, scopeSets: ids, sets };
}

/** A user as the named parameters of {@link insertUser}. */
export function toColumns(user: User, canonicalName: string): Record<string, string | number | null> {
  const { scopeSets: _, ...columns } = user;
  return { ...columns, canonicalName, scopes: JSON.stringify(user.scopes), disabled: user.disabled ? 1 : 0 };
}
