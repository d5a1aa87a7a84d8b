import { Refusal } from '../../errors.ts';
import type { Records } from '../records.ts';
import type { NewUser, User, UserChanges } from '../user.ts';
import { keepingAdministrator } from './administrator-watch.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { insertHeldSets } from './held-sets.ts';
import { createKeyLineage, type KeyLineage } from './key-lineage.ts';
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
const selectBootstrap = 'SELECT open FROM bootstrap';
const idOfName = 'SELECT id FROM users WHERE canonical_name = ?';
const canonicalNameOf = 'SELECT canonical_name AS "canonicalName" FROM users WHERE id = ?';
const removeHeldSets = 'DELETE FROM user_scope_sets WHERE user_id = ?';
const removeUser = 'DELETE FROM users WHERE id = ? RETURNING id';

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
    removeUser: (id, { keepKeys }) => write(() => steps.remove(id, keepKeys)),
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

/** The transactions that change users. */
class UserSteps {
  readonly #byId: string;
  readonly #addHeldSets: string;
  readonly #lineage: KeyLineage;
  readonly #now: () => number;

  constructor(dialect: Dialect, now: () => number) {
    this.#now = now;
    this.#byId = userQueries(dialect).byId;
    this.#addHeldSets = insertHeldSets(dialect, 'user_scope_sets', 'user_id');
    this.#lineage = createKeyLineage(dialect);
  }

  *add(user: NewUser, canonicalName: string): Steps<void> {
    yield* requireFreeName(canonicalName, '');
    yield* run(insertUser, ...toNewRow(user, canonicalName));
    yield* run(this.#addHeldSets, user.id, JSON.stringify(user.scopeSets));
    yield* run(closeBootstrap);
    yield* noteChange([user.id]);
  }

  *activate(user: NewUser, canonicalName: string): Steps<void> {
    const bootstrap = yield* first<{ readonly open: number }>(selectBootstrap);
    if (bootstrap?.open !== 1) throw new Refusal('already_activated');
    yield* this.add(user, canonicalName);
  }

  *change(id: string, changes: UserChanges, newName: string | undefined): Steps<User | undefined> {
    const before = yield* this.#find(id);
    if (before === undefined) return undefined;
    const { ifPasswordHash, ...changed } = changes;
    if (ifPasswordHash !== undefined && before.passwordHash !== ifPasswordHash) return before;
    if (newName !== undefined) yield* requireFreeName(newName, id);
    const after: User = {
      ...before,
      ...withoutUndefined(changed),
      updated: this.#now(),
      epoch: epochAfter(before, changes),
    };
    const canonicalName = newName ?? (yield* nameOf(id));
    yield* keepingAdministrator(() => this.#write(after, canonicalName, changes.scopeSets));
    yield* noteChange([id]);
    return yield* this.#find(id);
  }

  *remove(id: string, keepKeys: boolean): Steps<boolean> {
    const removed = yield* keepingAdministrator(() => run<{ readonly id: string }>(removeUser, id));
    if (removed.length === 0) return false;
    yield* noteChange([id], keepKeys ? [] : yield* this.#lineage.removeKeysOf(id));
    return true;
  }

  *#find(id: string): Steps<User | undefined> {
    return toUserWithSets(yield* first<UserRow>(this.#byId, id))?.user;
  }

  *#write(user: User, canonicalName: string, scopeSets: readonly string[] | undefined): Steps<void> {
    yield* run(updateUser, ...toColumns(user, canonicalName));
    if (scopeSets === undefined) return;
    yield* run(removeHeldSets, user.id);
    yield* run(this.#addHeldSets, user.id, JSON.stringify(scopeSets));
  }
}

function* requireFreeName(canonicalName: string, forId: string): Steps<void> {
  const holder = yield* first<{ readonly id: string }>(idOfName, canonicalName);
  if (holder !== undefined && holder.id !== forId) throw new Refusal('conflict');
}

function* nameOf(id: string): Steps<string> {
  return (yield* first<{ readonly canonicalName: string }>(canonicalNameOf, id))!.canonicalName;
}

/** A new password, or being disabled, ends every session of the user. */
function epochAfter({ epoch, disabled }: User, changes: UserChanges): number {
  const hasNewPassword = changes.passwordHash !== undefined && changes.ifPasswordHash === undefined;
  const isNewlyDisabled = changes.disabled === true && !disabled;
  return hasNewPassword || isNewlyDisabled ? epoch + 1 : epoch;
}

/** Without the fields that are present but undefined: they are no change either. */
function withoutUndefined<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}
