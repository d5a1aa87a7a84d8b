import type { ListedApiKey, RemovedApiKey } from '../api-key.ts';
import type { JudgedChange } from '../caller.ts';
import type { Identity } from '../identity.ts';
import type { Changed } from '../scope-set-records.ts';
import type {
  KeysOfRemoved,
  NewUserRecord,
  RemovalFound,
  RemovedUser,
  UserFilterField,
  UserQuery,
  UserRecord,
  UserRecordChanges,
  UserRecords,
} from '../user-records.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { IdentitySteps } from './identities.ts';
import { JudgedWrites } from './judged-writes.ts';
import { createList, type FilterColumn, fieldConditions } from './list.ts';
import { createRequireSets } from './scope-sets.ts';
import { all, given, noteChange, run, type Steps } from './steps.ts';
import { createFindUserRecord, selectUserRecord, toUserRecord, type UserRecordRow } from './user-row.ts';
import { UserSteps } from './user-steps.ts';

/** Condition that a user holds a set. It avoids the view `held_scope_sets`, in which PostgreSQL would sort all of the holders. */
const holdsSet = `(u.id IN (SELECT user_id FROM user_scope_sets WHERE set_id = ?)
  OR u.id IN (SELECT i.user_id FROM identities i JOIN identity_scope_sets s ON s.issuer = i.issuer AND s.subject = i.subject
    WHERE s.set_id = ?))`;
/** The same condition, checked user by user: for a scan in list order that ends after the first of many holders. */
const holdsSetInOrder = `((SELECT 1 FROM user_scope_sets s WHERE s.user_id = u.id AND s.set_id = ?) = 1
  OR (SELECT 1 FROM identities i JOIN identity_scope_sets s ON s.issuer = i.issuer AND s.subject = i.subject
    WHERE i.user_id = u.id AND s.set_id = ? LIMIT 1) = 1)`;
const lastLoginOrder = { column: 'u.last_login_order', nullValue: -Number.MAX_SAFE_INTEGER };
const columns: Readonly<Record<UserFilterField, FilterColumn>> = {
  username: { column: 'u.username', equals: 'u.canonical_name' },
  email: { column: 'u.email' },
  kind: { column: 'u.kind' },
  disabled: { column: 'u.disabled' },
  managed: { column: 'u.managed' },
  created: { column: 'u.created' },
  last_login: { column: 'u.last_login', order: lastLoginOrder },
  scope_sets: {
    column: 'u.id',
    contains: (id) => ({ sql: holdsSet, values: [id, id], inOrder: holdsSetInOrder }),
  },
};

/** Gives all keys of a user to another. This clears their origins: the keys weren't minted in sessions of the new owner. */
const transferKeys = `UPDATE api_keys SET created_by = ?, origin = NULL, version = version + 1
  WHERE created_by = ? RETURNING id, label, created_by AS "createdBy"`;

/** The administration of users in SQL; `now` is the clock, in epoch milliseconds. */
export function createUserRecords(database: SqlDatabase, now: () => number): UserRecords {
  const { dialect, one, snapshot } = database;
  const byId = `${selectUserRecord(dialect)} WHERE u.id = ?`;
  const find = createFindUserRecord(dialect);
  const users = new UserSteps(dialect, now);
  const steps = new UserRecordSteps(dialect, users);
  const list = createList<UserQuery, UserRecordRow, UserRecord>(dialect, {
    from: 'users u',
    select: selectUserRecord(dialect),
    countAll: dialect.countRows('users'),
    id: 'u.id',
    row: 'u.id',
    order: {
      created: { column: 'u.created' },
      username: { column: 'u.username' },
      last_login: lastLoginOrder,
    },
    conditions: ({ filters }) => fieldConditions(dialect, columns, filters),
    toItem: toUserRecord,
  });
  const identities = new IdentitySteps(dialect, now);
  const writes = new JudgedWrites(database, now);
  const nothing = () => given(null);
  const changeFound = <Decision, Result>(
    id: string,
    change: JudgedChange<UserRecord, Decision, Result>,
    apply: (found: UserRecord, decision: Decision) => Steps<Result>,
  ) => writes.makeFound(change, () => find(id), apply);

  return {
    listUserRecords: (query) => snapshot(() => list(query)),
    findUserRecord: (id) => one(byId, [id], (row: UserRecordRow | undefined) => row && toUserRecord(row)),
    createUserRecord: (change) => writes.make(change, nothing, (_, wanted) => steps.add(wanted)),
    changeUserRecord: (id, change) =>
      changeFound(id, change, (found, changes) => steps.update(found, changes)),
    judgeUserRecord: (id, change) => changeFound(id, change, given),
    removeUserRecord: (id, keys, change) =>
      writes.makeFound(
        change,
        () => steps.removal(id, keys),
        (removal) => steps.remove(removal, keys),
      ),
    linkUserIdentity: (id, change) =>
      changeFound(id, change, (found, identity) => identities.link(found, identity)),
    unlinkUserIdentity: (id, identity, change) =>
      writes.makeFound(
        change,
        function* () {
          const found = yield* find(id);
          return found && hasIdentity(found, identity) ? found : undefined;
        },
        (found) => identities.unlink(found, identity),
      ),
    endSessionsOfUser: (id, change) => changeFound(id, change, (found) => users.endSessions(found)),
    endAllSessions: (change) => writes.make(change, nothing, () => users.endAllSessions()),
  };
}

/** Transaction steps for {@link createUserRecords}. */
class UserRecordSteps {
  readonly #find: (id: string) => Steps<UserRecord | undefined>;
  readonly #users: UserSteps;
  readonly #keysOf: string;
  readonly #requireSets: ReturnType<typeof createRequireSets>;

  constructor(dialect: Dialect, users: UserSteps) {
    this.#find = createFindUserRecord(dialect);
    this.#users = users;
    this.#keysOf = `${selectApiKey(dialect)} WHERE k.created_by = ?`;
    this.#requireSets = createRequireSets(dialect);
  }

  *add({ user, canonicalName }: NewUserRecord): Steps<UserRecord> {
    yield* this.#requireSets(user.scopeSets);
    yield* this.#users.add(user, canonicalName);
    return (yield* this.#find(user.id))!;
  }

  *update(before: UserRecord, changes: UserRecordChanges): Steps<Changed<UserRecord>> {
    const { name, ...others } = changes;
    const all = { ...others, ...(name !== undefined && { username: name.username }) };
    if (!isChange(before.user, all)) return { before, after: before };
    const added = changes.scopeSets?.filter((id) => !before.user.scopeSets.includes(id));
    yield* this.#requireSets(added ?? []);
    yield* this.#users.update(before.user, all, name?.canonicalName);
    return { before, after: (yield* this.#find(before.user.id))! };
  }

  *removal(id: string, keys: KeysOfRemoved): Steps<RemovalFound | undefined> {
    const found = yield* this.#find(id);
    if (found === undefined) return undefined;
    const remaining: ListedApiKey[] = [];
    if (keys !== 'delete')
      for (const row of yield* all<ApiKeyRow>(this.#keysOf, id)) remaining.push(toApiKey(row));
    const newOwner = typeof keys === 'object' ? yield* this.#find(keys.transferTo) : undefined;
    return { found, keys: remaining, newOwner };
  }

  *remove({ found }: RemovalFound, keys: KeysOfRemoved): Steps<RemovedUser> {
    const { id } = found.user;
    const transferredKeys = typeof keys === 'object' ? yield* this.#transfer(id, keys.transferTo) : [];
    const deletedKeys = yield* this.#users.remove(id, keys === 'keep');
    return { found, deletedKeys, transferredKeys };
  }

  *#transfer(from: string, to: string): Steps<readonly RemovedApiKey[]> {
    const moved = yield* run<RemovedApiKey>(transferKeys, to, from);
    yield* noteChange({ users: [to], keys: moved.map(({ id }) => id) });
    return moved;
  }
}

/** True if a defined field of the changes differs from the record's; lists are sorted in both. */
function isChange(before: object, changes: object): boolean {
  return Object.entries(changes).some(
    ([name, value]) =>
      value !== undefined &&
      JSON.stringify(value) !== JSON.stringify((before as Record<string, unknown>)[name]),
  );
}

function hasIdentity({ identities }: UserRecord, { issuer, subject }: Identity): boolean {
  return identities.some((linked) => linked.issuer === issuer && linked.subject === subject);
}
