import { Refusal } from '../../errors.ts';
import type { Records } from '../records.ts';
import type { NewUser, User, UserChanges } from '../user.ts';
import { keepingAdministrator } from './administrator-watch.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { insertHeldSets } from './held-sets.ts';
import { createKeyLineage } from './key-lineage.ts';
import { first, noteChange, run, type Steps } from './steps.ts';
import {
  closeBootstrap,
  insertUser,
  selectUser,
  toColumns,
  toNewRow,
  toUserWithSets,
  type UserRow,
  updateUser,
} from './user-row.ts';

/** The part of the records store about users. */
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

/** Without salt, `$` and hash in base64: cut by length, for every row is looked at while others wait. */
const hashKinds = `SELECT DISTINCT substr(password_hash, 1, length(password_hash) - 66) AS kind FROM users
  WHERE length(password_hash) > 66`;
const selectBootstrap = 'SELECT open FROM bootstrap';
const idOfName = 'SELECT id FROM users WHERE canonical_name = ?';
const canonicalNameOf = 'SELECT canonical_name AS "canonicalName" FROM users WHERE id = ?';
const removeHeldSets = 'DELETE FROM user_scope_sets WHERE user_id = ?';
const removeUser = 'DELETE FROM users WHERE id = ? RETURNING id';

/** Users in SQL; `now` is the clock, in epoch milliseconds. */
export function createUsers(database: SqlDatabase, now: () => number): Users {
  const { dialect, one, many, write } = database;
  const select = selectUser(dialect);
  const byId = `${select} WHERE u.id = ?`;
  const byName = `${select} WHERE u.canonical_name = ?`;
  const byNames = `${select} ORDER BY u.canonical_name`;
  const addHeldSets = insertHeldSets(dialect, 'user_scope_sets', 'user_id');
  const lineage = createKeyLineage(dialect);

  function* add(user: NewUser, canonicalName: string): Steps<void> {
    yield* requireFreeName(canonicalName, '');
    yield* run(insertUser, ...toNewRow(user, canonicalName));
    yield* run(addHeldSets, user.id, JSON.stringify(user.scopeSets));
    yield* run(closeBootstrap);
    yield* noteChange([user.id]);
  }

  function* activate(user: NewUser, canonicalName: string): Steps<void> {
    const bootstrap = yield* first<{ readonly open: number }>(selectBootstrap);
    if (bootstrap?.open !== 1) throw new Refusal('already_activated');
    yield* add(user, canonicalName);
  }

  function* change(id: string, changes: UserChanges, newName: string | undefined): Steps<User | undefined> {
    const before = toUserWithSets(yield* first<UserRow>(byId, id))?.user;
    if (before === undefined) return undefined;
    const { ifPasswordHash, ...made } = changes;
    if (ifPasswordHash !== undefined && before.passwordHash !== ifPasswordHash) return before;
    if (newName !== undefined) yield* requireFreeName(newName, id);
    const after: User = {
      ...before,
      ...withoutUndefined(made),
      updated: now(),
      epoch: epochAfter(before, changes),
    };
    const canonicalName = newName ?? (yield* nameOf(id));
    yield* keepingAdministrator(function* () {
      yield* run(updateUser, ...toColumns(after, canonicalName));
      if (changes.scopeSets === undefined) return;
      yield* run(removeHeldSets, id);
      yield* run(addHeldSets, id, JSON.stringify(changes.scopeSets));
    });
    yield* noteChange([id]);
    return toUserWithSets(yield* first<UserRow>(byId, id))?.user;
  }

  function* remove(id: string, keepKeys: boolean): Steps<boolean> {
    return yield* keepingAdministrator(function* () {
      const removed = yield* run<{ readonly id: string }>(removeUser, id);
      if (removed.length === 0) return false;
      yield* noteChange([id], keepKeys ? [] : yield* lineage.removeKeysOf(id));
      return true;
    });
  }

  return {
    findUser: (id) => one(byId, [id], toUserWithSets),
    findUserByName: (canonicalName) => one(byName, [canonicalName], toUserWithSets),
    passwordHashKinds: () =>
      many(hashKinds, [], (rows: readonly { readonly kind: string }[]) => rows.map(({ kind }) => kind)),
    listUsers: () =>
      many(byNames, [], (rows: readonly UserRow[]) => rows.map((row) => toUserWithSets(row).user)),
    createUser: (user, canonicalName, audit) =>
      writeAudited(database, now, () => add(user, canonicalName), audit),
    activate: (user, canonicalName, audit) =>
      writeAudited(database, now, () => activate(user, canonicalName), audit),
    async updateUser(id, changes, canonicalName) {
      if (changes.username !== undefined && canonicalName === undefined)
        throw new TypeError(
          'a new username comes with its canonical name, or the old one would still sign in',
        );
      return write(() => change(id, changes, canonicalName));
    },
    removeUser: (id, { keepKeys }) => write(() => remove(id, keepKeys)),
  };
}

function* requireFreeName(canonicalName: string, forId: string): Steps<void> {
  const holder = yield* first<{ readonly id: string }>(idOfName, canonicalName);
  if (holder !== undefined && holder.id !== forId) throw new Refusal('conflict');
}

function* nameOf(id: string): Steps<string> {
  return (yield* first<{ readonly canonicalName: string }>(canonicalNameOf, id))!.canonicalName;
}

/** Another password, or being disabled, ends every session there is. */
function epochAfter({ epoch, disabled }: User, changes: UserChanges): number {
  const hasNewPassword = changes.passwordHash !== undefined && changes.ifPasswordHash === undefined;
  const isNewlyDisabled = changes.disabled === true && !disabled;
  return hasNewPassword || isNewlyDisabled ? epoch + 1 : epoch;
}

/** A field that is present but undefined is no change either. */
function withoutUndefined<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}
