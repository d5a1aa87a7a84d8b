import type { Records } from '../records.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { run } from './steps.ts';
import { selectUser, toUserWithSets } from './user-row.ts';
import { UserSteps } from './user-steps.ts';

/** Records the time of a sign-in. The recorded time never goes back, although the clocks of gateways differ. */
const noteSignIn = `UPDATE users SET last_login = ? WHERE id = ? AND (last_login IS NULL OR last_login < ?)`;

/**
 * Builds the query for the distinct prefixes of password hashes: everything before salt and hash. Argon2 hashes are cut by
 * length, which is fast: every row is read while other queries wait. Hashes of other kinds are cut after their parameters.
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
export function createUsers(database: SqlDatabase, now: () => number) {
  const { dialect, one, many, write } = database;
  const select = selectUser(dialect);
  const byId = `${select} WHERE u.id = ?`;
  const byName = `${select} WHERE u.canonical_name = ?`;
  const hashKinds = selectHashKinds(dialect);
  const steps = new UserSteps(dialect, now);

  return {
    findUser: (id) => one(byId, [id], toUserWithSets),
    findUserByName: (canonicalName) => one(byName, [canonicalName], toUserWithSets),
    passwordHashKinds: () =>
      many(hashKinds, [], (rows: readonly { readonly kind: string }[]) => rows.map(({ kind }) => kind)),
    activate: (user, canonicalName, audit) =>
      writeAudited(database, now, () => steps.activate(user, canonicalName), audit),
    async keepSignIn({ userId, instant }, audit) {
      const note = function* () {
        yield* run(noteSignIn, instant, userId, instant);
      };
      await writeAudited<void>(database, now, note, audit);
    },
    replacePasswordHash: (id, { from, to }) => write(() => steps.replacePasswordHash(id, from, to)),
  } satisfies Partial<Records>;
}
