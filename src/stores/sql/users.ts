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

/**
 * The beginnings of hashes, without salt and hash. Of argon2 cut by length, which is fast, as every row is read while
 * others wait; of kinds that were taken from elsewhere by what ends their parameters.
 */
function selectHashKinds({ position }: Dialect): string {
  const upTo = (from: number) =>
    `substr(password_hash, 1, ${from} + ${position}(substr(password_hash, ${from + 1}), '$'))`;
  return `SELECT DISTINCT CASE
      WHEN substr(password_hash, 1, 7) = '$argon2' THEN substr(password_hash, 1, length(password_hash) - 66)
      WHEN substr(password_hash, 1, 2) = '$2' THEN substr(password_hash, 1, 7)
      WHEN substr(password_hash, 1, 8) = '$scrypt$' THEN ${upTo('$scrypt$'.length)}
      ELSE ${upTo('$pbkdf2-sha256$'.length)} END AS kind
    FROM users WHERE length(password_hash) > 66 OR substr(password_hash, 1, 7) <> '$argon2'`;
}

/** Users in SQL; `now` is the clock, in epoch milliseconds. */
export function createUsers(database: SqlDatabase, now: () => number): Users {
  const { dialect, one, many, write } = database;
  const queries = userQueries(dialect);
  const hashKinds = selectHashKinds(dialect);
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
