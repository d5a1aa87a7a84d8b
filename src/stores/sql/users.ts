import type { Records } from '../records.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { selectUser, toUserWithSets, type UserRow } from './user-row.ts';
import { UserSteps } from './user-steps.ts';

/** The part of the records store for users. */
export type Users = Pick<
  Records,
  | 'findUser'
  | 'findUserByName'
  | 'passwordHashKinds'
  | 'listUsers'
  | 'createUser'
  | 'activate'
  | 'updateUser'
  | 'removeUser'
>;

/** Without salt, `$` and hash in base64: cut by length, which is fast, as every row is read while others wait. */
const hashKinds = `SELECT DISTINCT substr(password_hash, 1, length(password_hash) - 66) AS kind FROM users
  WHERE length(password_hash) > 66`;

/** Users in SQL; `now` is the clock, in epoch milliseconds. */
export function createUsers(database: SqlDatabase, now: () => number): Users {
  const { dialect, one, many, write } = database;
  const queries = userQueries(dialect);
  const steps = new UserSteps(dialect, now);

  return {
    findUser: (id) => one(queries.byId, [id], toUserWithSets),
    findUserByName: (canonicalName) => one(queries.byName, [canonicalName], toUserWithSets),
    passwordHashKinds: () =>
      many(hashKinds, [], (rows: readonly { readonly kind: string }[]) => rows.map(({ kind }) => kind)),
    listUsers: () =>
      many(queries.all, [], (rows: readonly UserRow[]) => rows.map((row) => toUserWithSets(row).user)),
    createUser: (user, canonicalName, audit) =>
      writeAudited(database, now, () => steps.add(user, canonicalName), audit),
    activate: (user, canonicalName, audit) =>
      writeAudited(database, now, () => steps.activate(user, canonicalName), audit),
    async updateUser(id, changes, canonicalName) {
      if (changes.username !== undefined && canonicalName === undefined)
        throw new TypeError('a new username requires its canonical name, or the old one would still sign in');
      return write(() => steps.change(id, changes, canonicalName));
    },
    removeUser: async (id, { keepKeys }) => (await write(() => steps.remove(id, keepKeys))) !== undefined,
  };
}

interface UserQueries {
  readonly byId: string;
  readonly byName: string;
  readonly all: string;
}

function userQueries(dialect: Dialect): UserQueries {
  const select = selectUser(dialect);
  return {
    byId: `${select} WHERE u.id = ?`,
    byName: `${select} WHERE u.canonical_name = ?`,
    all: `${select} ORDER BY u.canonical_name`,
  };
}
