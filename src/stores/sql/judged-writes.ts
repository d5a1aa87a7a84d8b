import type { CallerFound, CallerRef, JudgedChange } from '../caller.ts';
import { type ApiKeyOwnerRow, selectApiKeyWithOwner, toApiKeyWithOwner } from './api-key-row.ts';
import { whereFound, writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { first, type Steps } from './steps.ts';
import { selectUser, toUserWithSets, type UserRow } from './user-row.ts';

/** Makes changes that are judged on what their own transaction reads, the caller included, and keeps their audit events in it. */
export class JudgedWrites {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  readonly #findCaller: ReturnType<typeof createFindCaller>;

  /** `now` is the clock, in epoch milliseconds. */
  constructor(database: SqlDatabase, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#findCaller = createFindCaller(database.dialect);
  }

  /** Makes a change in one transaction: `find` reads, the change decides, and `apply` writes. */
  make<Found, Decision, Result>(
    change: JudgedChange<Found, Decision, Result>,
    find: () => Steps<Found>,
    apply: (found: Found, decision: Decision) => Steps<Result>,
  ): Promise<Result> {
    const steps = () => this.#judge(change, find, apply);
    return writeAudited(this.#database, this.#now, steps as () => Steps<Result>, change.audit);
  }

  /** As {@link make}; if `find` finds nothing, changes nothing and resolves to undefined. */
  makeFound<Found, Decision, Result>(
    change: JudgedChange<Found, Decision, Result>,
    find: () => Steps<Found | undefined>,
    apply: (found: Found, decision: Decision) => Steps<Result>,
  ): Promise<Result | undefined> {
    const steps = () => this.#judge(change, find, apply);
    return writeAudited(this.#database, this.#now, steps, whereFound(change.audit));
  }

  *#judge<Found, Decision, Result>(
    { caller, decide }: JudgedChange<Found, Decision, Result>,
    find: () => Steps<Found | undefined>,
    apply: (found: Found, decision: Decision) => Steps<Result>,
  ): Steps<Result | undefined> {
    const found = yield* find();
    return found === undefined
      ? undefined
      : yield* apply(found, decide(found, yield* this.#findCaller(caller)));
  }
}

/** Builds the steps that read the caller of a change in its transaction. */
export function createFindCaller(dialect: Dialect): (ref: CallerRef) => Steps<CallerFound> {
  const userById = `${selectUser(dialect)} WHERE u.id = ?`;
  const keyById = `${selectApiKeyWithOwner(dialect)} WHERE k.id = ?`;
  return function* find(ref) {
    switch (ref.kind) {
      case 'session':
        return { kind: ref.kind, ref, user: toUserWithSets(yield* first<UserRow>(userById, ref.userId)) };
      case 'api_key':
        return { kind: ref.kind, key: toApiKeyWithOwner(yield* first<ApiKeyOwnerRow>(keyById, ref.keyId)) };
      default:
        return { kind: ref.kind };
    }
  };
}
