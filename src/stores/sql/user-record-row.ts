import type { Identity } from '../identity.ts';
import type { UserRecord } from '../user-records.ts';
import type { Dialect } from './dialect.ts';
import { first, type Steps } from './steps.ts';
import { selectUser, toUserWithSets, type UserRow } from './user-row.ts';

/** A row of {@link selectUserRecord}. */
export interface UserRecordRow extends UserRow {
  readonly identities: string;
}

/** Selects users with everything that administration reads; a WHERE clause may follow. */
export function selectUserRecord(dialect: Dialect): string {
  const identity = dialect.tuple + '(i.issuer, i.subject)';
  const identities = dialect.arrayOf(identity, 'i.created, i.issuer, i.subject');
  return selectUser(
    dialect,
    `, (SELECT ${identities} FROM identities i WHERE i.user_id = u.id) AS "identities"`,
  );
}

/** Parses a row of {@link selectUserRecord}. */
export function toUserRecord(row: UserRecordRow): UserRecord {
  const { identities: column, ...userRow } = row;
  const pairs = JSON.parse(column) as readonly (readonly [issuer: string, subject: string])[];
  const identities = pairs.map(([issuer, subject]): Identity => ({ issuer, subject }));
  return { ...toUserWithSets(userRow), identities };
}

/** Steps that read a user with everything that administration reads. */
export type FindUserRecord = (id: string) => Steps<UserRecord | undefined>;

/** Builds the steps. */
export function createFindUserRecord(dialect: Dialect): FindUserRecord {
  const byId = `${selectUserRecord(dialect)} WHERE u.id = ?`;
  return function* find(id) {
    const row = yield* first<UserRecordRow>(byId, id);
    return row && toUserRecord(row);
  };
}
