import type { User, UserWithSets } from '../records.ts';
import type { Dialect } from './dialect.ts';
import { parseHeldSets, selectHeldSets } from './held-sets.ts';
import type { Value } from './steps.ts';

/** A user as a database gives it. */
export interface UserRow extends Omit<User, 'scopes' | 'scopeSets' | 'disabled'> {
  readonly scopes: string;
  readonly disabled: number;
  readonly ownSets: string;
  readonly heldSets: string;
  readonly grantedScopes: string;
}

/** Selects users with all that is held; a WHERE clause may follow. */
export function selectUser(dialect: Dialect): string {
  return `SELECT u.id, u.username, u.display_name AS "displayName", u.email,
    u.password_hash AS "passwordHash", u.scopes, u.disabled, u.created, u.last_login AS "lastLogin",
    (SELECT ${dialect.arrayOf('set_id', 'set_id')} FROM user_scope_sets WHERE user_id = u.id) AS "ownSets",
    ${selectHeldSets(dialect, 'held_scope_sets', 'user_id', 'u.id')} AS "heldSets",
    (SELECT ${dialect.arrayOf('g.value')} FROM identities i, ${dialect.elementsOf('i.scopes')} g
      WHERE i.user_id = u.id) AS "grantedScopes"
  FROM users u`;
}

/** Inserts a user, without sets; the values are {@link toColumns}, then `created` and `lastLogin`. */
export const insertUser = `INSERT INTO users
  (username, canonical_name, display_name, email, password_hash, scopes, disabled, id, created, last_login)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes {@link toColumns} over those of the user. What is noted of uses stays: it may be noted at the same time. */
export const updateUser = `UPDATE users SET username = ?, canonical_name = ?, display_name = ?, email = ?,
  password_hash = ?, scopes = ?, disabled = ? WHERE id = ?`;

/** Closes the bootstrap for good: there is a user. */
export const closeBootstrap = 'UPDATE bootstrap SET open = 0, token = NULL';

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

/** What may be changed of a user, and the id, as the values of {@link updateUser}. */
export function toColumns(user: User, canonicalName: string): readonly Value[] {
  return [
    user.username,
    canonicalName,
    user.displayName,
    user.email,
    user.passwordHash,
    JSON.stringify(user.scopes),
    user.disabled ? 1 : 0,
    user.id,
  ];
}
