import type { Identity } from '../identity.ts';
import type { IdentityGrants, NewUser, User, UserHoldings, UserWithSets } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
import type { Dialect } from './dialect.ts';
import { parseHeldSets, selectHeldSets } from './held-sets.ts';
import { first, type Steps, type Value } from './steps.ts';

/** A row of {@link selectUser}. */
export interface UserRow extends Omit<User, 'scopes' | 'scopeSets' | 'disabled' | 'managed'>, HoldingsRow {
  readonly disabled: number;
  readonly managed: number;
  readonly tenantEpoch: number;
}

/** The columns of {@link selectHoldings}. */
export interface HoldingsRow {
  readonly ownScopes: string;
  readonly ownSets: string;
  readonly allSets: string;
  readonly grants: string;
}

type GrantsTuple = readonly [
  issuer: string,
  subject: string,
  provider: string | null,
  grants: readonly string[] | null,
  scopes: readonly string[],
  scopeSets: readonly string[],
];

const noGrants: readonly IdentityGrants[] = Object.freeze([]);

/** SQL for columns with everything recorded as held by a user; `u` is the user. */
export function selectHoldings(dialect: Dialect): string {
  const { arrayOf, json, tuple } = dialect;
  const grantedSets = `(SELECT ${arrayOf('s.set_id', 's.set_id')} FROM identity_scope_sets s
    WHERE s.issuer = i.issuer AND s.subject = i.subject)`;
  const grants = `${tuple}(i.issuer, i.subject, i.provider, ${json('i.grants')}, ${json('i.scopes')},
    ${json(grantedSets)})`;
  return `u.scopes AS "ownScopes",
    (SELECT ${arrayOf('set_id', 'set_id')} FROM user_scope_sets WHERE user_id = u.id) AS "ownSets",
    ${selectHeldSets(dialect, 'held_scope_sets', 'user_id', 'u.id')} AS "allSets",
    (SELECT ${arrayOf(grants)} FROM identities i WHERE i.user_id = u.id) AS "grants"`;
}

/** Parses the columns of {@link selectHoldings}. */
export function toHoldings({ ownScopes, ownSets, allSets, grants }: HoldingsRow): UserHoldings {
  return {
    scopes: JSON.parse(ownScopes) as string[],
    scopeSets: JSON.parse(ownSets) as string[],
    grants: grants === '[]' ? noGrants : (JSON.parse(grants) as GrantsTuple[]).map(toGrants),
    sets: parseHeldSets(allSets).sets,
  };
}

function toGrants([issuer, subject, provider, grants, scopes, scopeSets]: GrantsTuple): IdentityGrants {
  return { issuer, subject, provider, grants, scopes, scopeSets };
}

/** Selects users with everything they hold; `more` is SQL for further columns, after a comma. A WHERE clause may follow. */
export function selectUser(dialect: Dialect, more = ''): string {
  return `SELECT u.id, u.username, u.display_name AS "displayName", u.email,
    u.password_hash AS "passwordHash", u.disabled, u.created, u.last_login AS "lastLogin",
    u.kind, u.managed, u.updated, u.epoch, u.version,
    u.carried_session AS "carriedSession", (SELECT epoch FROM tenant_epoch) AS "tenantEpoch",
    ${selectHoldings(dialect)}${more}
  FROM users u`;
}

/** Inserts a user, without sets; its values come from {@link toNewRow}. */
export const insertUser = `INSERT INTO users
  (username, canonical_name, display_name, email, password_hash, scopes, disabled, updated, id, created, last_login,
    kind, managed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Updates a user, except for the last login, which may be recorded concurrently; its values come from {@link toColumns}. */
export const updateUser = `UPDATE users SET username = ?, canonical_name = ?, display_name = ?, email = ?,
  password_hash = ?, scopes = ?, disabled = ?, updated = ?, managed = ?, epoch = ?, carried_session = ?,
  version = version + 1 WHERE id = ?`;

/** Makes a new version of a user whose row has not changed otherwise; its values are the time (epoch ms) and the id. */
export const touchUser = 'UPDATE users SET updated = ?, version = version + 1 WHERE id = ?';

/** Starts a new epoch of a user, which ends all sessions of the user; its values are the epoch and the id. */
export const startUserEpoch = 'UPDATE users SET epoch = ?, carried_session = NULL WHERE id = ?';

/** Parses a row of {@link selectUser}. */
export function toUserWithSets(row: UserRow): UserWithSets;
export function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined;
export function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined {
  if (row === undefined) return undefined;
  const { ownScopes: _, ownSets: _sets, allSets: _all, grants: _grants, tenantEpoch, ...columns } = row;
  const { scopes, scopeSets, grants, sets } = toHoldings(row);
  const flags = { disabled: row.disabled === 1, managed: row.managed === 1 };
  // No session survives the start of an epoch of the tenant.
  const ended = tenantEpoch > row.epoch ? { epoch: tenantEpoch, carriedSession: null } : undefined;
  return { user: { ...columns, scopes, scopeSets, ...flags, ...ended }, grants, sets };
}

/** A row of {@link selectUserRecord}. */
export interface UserRecordRow extends UserRow {
  readonly identities: string;
}

/** Selects users with everything that administration reads; a WHERE clause may follow. */
export function selectUserRecord(dialect: Dialect): string {
  const identities = dialect.arrayOf(
    dialect.tuple + '(i.issuer, i.subject)',
    'i.created, i.issuer, i.subject',
  );
  const column = `(SELECT ${identities} FROM identities i WHERE i.user_id = u.id) AS "identities"`;
  return selectUser(dialect, `, ${column}`);
}

/** Parses a row of {@link selectUserRecord}. */
export function toUserRecord({ identities, ...row }: UserRecordRow): UserRecord {
  const pairs = JSON.parse(identities) as readonly (readonly [issuer: string, subject: string])[];
  const linked = pairs.map(([issuer, subject]): Identity => ({ issuer, subject }));
  return { ...toUserWithSets(row), identities: linked };
}

/** Builds the steps that read a user with everything that administration reads. */
export function createFindUserRecord(dialect: Dialect): (id: string) => Steps<UserRecord | undefined> {
  const byId = `${selectUserRecord(dialect)} WHERE u.id = ?`;
  return function* find(id) {
    const row = yield* first<UserRecordRow>(byId, id);
    return row && toUserRecord(row);
  };
}

/** The values of {@link updateUser}: the columns that may change, then the id. */
export function toColumns(user: User, canonicalName: string): readonly Value[] {
  const { updated, managed, epoch, carriedSession, id } = user;
  return [...commonColumns(user, canonicalName), updated, managed ? 1 : 0, epoch, carriedSession, id];
}

/** The values of {@link insertUser}. */
export function toNewRow(user: NewUser, canonicalName: string): readonly Value[] {
  const { id, created, lastLogin, kind = 'person', managed = false } = user;
  return [...commonColumns(user, canonicalName), created, id, created, lastLogin, kind, managed ? 1 : 0];
}

function commonColumns(user: NewUser, canonicalName: string): readonly Value[] {
  const { username, displayName, email, passwordHash, scopes, disabled } = user;
  return [
    username,
    canonicalName,
    displayName,
    email,
    passwordHash,
    JSON.stringify(scopes),
    disabled ? 1 : 0,
  ];
}
