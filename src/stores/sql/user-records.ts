import { Refusal } from '../../errors.ts';
import type { ListedApiKey, RemovedApiKey } from '../api-key.ts';
import type { AuditOf } from '../audit.ts';
import type { CallerFound, CallerRef } from '../caller.ts';
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
import { whereFound, writeAudited } from './audit-events.ts';
import { createFindCaller } from './callers.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { all, noteChange, run, type Steps } from './steps.ts';
import { createUserList } from './user-list.ts';
import {
  createFindUserRecord,
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
  const steps = new UserRecordSteps(dialect, now);
  const list = createUserList(dialect);
  const audited = <T>(audit: AuditOf<T> | undefined, change: () => Steps<T>) =>
    writeAudited(database, now, change, audit);
  /** A change of the user with that id; of one who is not there, there is none. */
  const auditedOf = <T>(id: string, audit: AuditOf<T>, change: (found: UserRecord) => Steps<T>) =>
    audited<T | undefined>(whereFound(audit), function* () {
      const found = yield* steps.find(id);
      return found && (yield* change(found));
    });

  return {
    listUserRecords: (query) => snapshot(() => list(query)),
    findUserRecord: (id) => one(byId, [id], (row: UserRecordRow | undefined) => row && toUserRecord(row)),
    createUserRecord: ({ caller, decide, audit }) =>
      audited(audit, function* () {
        return yield* steps.add(decide(null, yield* steps.caller(caller)));
      }),
    changeUserRecord: (id, { caller, decide, audit }) =>
      auditedOf(id, audit, function* (found) {
        return yield* steps.update(found, decide(found, yield* steps.caller(caller)));
      }),
    judgeUserRecord: (id, { caller, decide, audit }) =>
      auditedOf(id, audit, function* (found) {
        decide(found, yield* steps.caller(caller));
        return found;
      }),
    removeUserRecord: (id, keys, { caller, decide, audit }) =>
      auditedOf(id, audit, function* (found) {
        const removal = yield* steps.removal(found, keys);
        decide(removal, yield* steps.caller(caller));
        return yield* steps.remove(removal, keys);
      }),
    endSessionsOfUser: (id, { caller, decide, audit }) =>
      auditedOf(id, audit, function* (found) {
        decide(found, yield* steps.caller(caller));
        yield* steps.endSessions(found);
        return found;
      }),
    endAllSessions: ({ caller, decide, audit }) =>
      audited(audit, function* () {
        decide(null, yield* steps.caller(caller));
        yield* steps.endAllSessions();
      }),
  };
}

/** The steps of those transactions. */
class UserRecordSteps {
  readonly caller: (ref: CallerRef) => Steps<CallerFound>;
  readonly find: (id: string) => Steps<UserRecord | undefined>;
  readonly #users: UserSteps;
  readonly #keysOf: string;
  readonly #existingSets: string;

  constructor(dialect: Dialect, now: () => number) {
    this.caller = createFindCaller(dialect);
    this.#users = new UserSteps(dialect, now);
    this.find = createFindUserRecord(dialect);
    this.#keysOf = `${selectApiKey(dialect)} WHERE k.created_by = ?`;
    this.#existingSets = `SELECT id FROM scope_sets WHERE id IN (SELECT value FROM ${dialect.elementsOf('?')})`;
  }

  *add({ user, canonicalName }: NewUserRecord): Steps<UserRecord> {
    yield* this.#requireSets(user.scopeSets);
    yield* this.#users.add(user, canonicalName);
    return (yield* this.find(user.id))!;
  }

  *update(before: UserRecord, changes: UserRecordChanges): Steps<Changed<UserRecord>> {
    const { name, ...others } = changes;
    const all = { ...others, ...(name !== undefined && { username: name.username }) };
    if (!isChange(before.user, all)) return { before, after: before };
    const added = changes.scopeSets?.filter((id) => !before.user.scopeSets.includes(id));
    yield* this.#requireSets(added ?? []);
    yield* this.#users.update(before.user, all, name?.canonicalName);
    return { before, after: (yield* this.find(before.user.id))! };
  }

  *removal(found: UserRecord, keys: KeysOfRemoved): Steps<RemovalFound> {
    const remaining: ListedApiKey[] = [];
    if (keys !== 'delete')
      for (const row of yield* all<ApiKeyRow>(this.#keysOf, found.user.id)) remaining.push(toApiKey(row));
    const newOwner = typeof keys === 'object' ? yield* this.find(keys.transferTo) : undefined;
    return { found, keys: remaining, newOwner };
  }

  *remove({ found }: RemovalFound, keys: KeysOfRemoved): Steps<RemovedUser> {
    const { id } = found.user;
    const transferredKeys = typeof keys === 'object' ? yield* this.#transfer(id, keys.transferTo) : [];
    const deletedKeys = yield* this.#users.remove(id, keys === 'keep');
    return { found, deletedKeys, transferredKeys };
  }

  endSessions({ user }: UserRecord): Steps<void> {
    return this.#users.endSessions(user);
  }

  endAllSessions(): Steps<void> {
    return this.#users.endAllSessions();
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
