import { Refusal } from '../../errors.ts';
import type { ListedApiKey, RemovedApiKey } from '../api-key.ts';
import type { Identity } from '../identity.ts';
import { administratorSetId } from '../scope-set.ts';
import type { Changed } from '../scope-set-records.ts';
import type {
  KeysOfRemoved,
  NewUserRecord,
  RemovalFound,
  RemovedUser,
  UserRecord,
  UserRecordChanges,
  UserRecords,
} from '../user-records.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { IdentitySteps } from './identities.ts';
import { JudgedWrites } from './judged-writes.ts';
import { all, given, noteChange, run, type Steps } from './steps.ts';
import { createUserList } from './user-list.ts';
import {
  createFindUserRecord,
  type FindUserRecord,
  selectUserRecord,
  toUserRecord,
  type UserRecordRow,
} from './user-record-row.ts';
import { UserSteps } from './user-steps.ts';

/** Clears the origins: the keys weren't minted in sessions of the new owner. */
const transferKeys = `UPDATE api_keys SET created_by = ?, origin = NULL, version = version + 1
  WHERE created_by = ? RETURNING id, label`;

/** Users as administered, in SQL; `now` is the clock, in epoch milliseconds. */
export function createUserRecords(database: SqlDatabase, now: () => number): UserRecords {
  const { dialect, one, snapshot } = database;
  const byId = `${selectUserRecord(dialect)} WHERE u.id = ?`;
  const find = createFindUserRecord(dialect);
  const users = new UserSteps(dialect, now);
  const steps = new UserRecordSteps(dialect, find, users);
  const list = createUserList(dialect);
  const identities = new IdentitySteps(dialect, now);
  const writes = new JudgedWrites(database, now);

  return {
    listUserRecords: (query) => snapshot(() => list(query)),
    findUserRecord: (id) => one(byId, [id], (row: UserRecordRow | undefined) => row && toUserRecord(row)),
    createUserRecord: (change) =>
      writes.make(
        change,
        () => given(null),
        (_, wanted) => steps.add(wanted),
      ),
    changeUserRecord: (id, change) =>
      writes.makeFound(
        change,
        () => find(id),
        (found, changes) => steps.update(found, changes),
      ),
    judgeUserRecord: (id, change) =>
      writes.makeFound(
        change,
        () => find(id),
        (found) => given(found),
      ),
    removeUserRecord: (id, keys, change) =>
      writes.makeFound(
        change,
        () => steps.removal(id, keys),
        (removal) => steps.remove(removal, keys),
      ),
    linkUserIdentity: (id, change) =>
      writes.makeFound(
        change,
        () => find(id),
        function* (found, identity) {
          yield* identities.link(found.user, identity);
          return found;
        },
      ),
    unlinkUserIdentity: (id, identity, change) =>
      writes.makeFound(
        change,
        function* () {
          const found = yield* find(id);
          return found && hasIdentity(found, identity) ? found : undefined;
        },
        function* (found) {
          yield* identities.unlink(found.user, identity);
          return found;
        },
      ),
    endSessionsOfUser: (id, change) =>
      writes.makeFound(
        change,
        () => find(id),
        function* (found) {
          yield* users.endSessions(found.user);
          return found;
        },
      ),
    endAllSessions: (change) =>
      writes.make(
        change,
        () => given(null),
        () => users.endAllSessions(),
      ),
  };
}

/** The steps of those transactions. */
class UserRecordSteps {
  readonly #find: FindUserRecord;
  readonly #users: UserSteps;
  readonly #keysOf: string;
  readonly #existingSets: string;

  constructor(dialect: Dialect, find: FindUserRecord, users: UserSteps) {
    this.#find = find;
    this.#users = users;
    this.#keysOf = `${selectApiKey(dialect)} WHERE k.created_by = ?`;
    this.#existingSets = `SELECT id FROM scope_sets WHERE id IN (SELECT value FROM ${dialect.elementsOf('?')})`;
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
    yield* noteChange(
      [to],
      moved.map(({ id }) => id),
    );
    return moved;
  }

  /** A set may have been removed since the request was validated. */
  *#requireSets(ids: readonly string[]): Steps<void> {
    const stored = ids.filter((id) => id !== administratorSetId);
    if (stored.length === 0) return;
    const found = yield* all(this.#existingSets, JSON.stringify(stored));
    if (found.length < stored.length) throw new Refusal('conflict');
  }
}

/** True if a field of the changes differs from the record's; lists are sorted. */
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
